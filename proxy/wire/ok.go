package wire

import "encoding/binary"

// First bytes of the packets that end a reply or a part of it.
const (
	OKHeader     byte = 0x00
	InfileHeader byte = 0xfb
	EOFHeader    byte = 0xfe
	ErrHeader    byte = 0xff
)

// OK is an OK packet's content. Info and State are slices of the packet it was parsed from.
type OK struct {
	AffectedRows uint64
	InsertID     uint64
	Status       Status
	Warnings     uint16
	Info         []byte
	State        []byte // session-state entries, see Tracks; empty unless the session tracks
}

// ParseOK decodes the payload of an OK packet; tracked says that the connection negotiated SessionTrack. The
// documentation has Info run to the packet's end without tracking, but servers prefix its length in either case, and
// so do clients expect it.
func ParseOK(p []byte, tracked bool) (ok OK, valid bool) {
	r := reader{p: p}
	r.byte()
	ok.AffectedRows = r.lenInt()
	ok.InsertID = r.lenInt()
	ok.Status = Status(r.uint16())
	ok.Warnings = r.uint16()
	if len(r.p) > 0 {
		ok.Info = r.lenBytes()
		if tracked && ok.Status&StatusSessionState != 0 && len(r.p) > 0 {
			ok.State = r.lenBytes()
		}
	}
	return ok, !r.bad
}

// AppendOK encodes ok; State is said, and its bit in Status set, when there is some: a client that does not track must
// be given none. The result is never longer than the packet that ok was parsed from, so dst may be that packet's own
// start.
func (ok *OK) AppendOK(dst []byte) []byte {
	status := ok.Status &^ StatusSessionState
	if len(ok.State) > 0 {
		status |= StatusSessionState
	}
	dst = append(dst, OKHeader)
	dst = AppendLenInt(AppendLenInt(dst, ok.AffectedRows), ok.InsertID)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(status))
	dst = binary.LittleEndian.AppendUint16(dst, ok.Warnings)
	if len(ok.Info) > 0 || len(ok.State) > 0 {
		dst = append(AppendLenInt(dst, uint64(len(ok.Info))), ok.Info...)
	}
	if len(ok.State) > 0 {
		dst = append(AppendLenInt(dst, uint64(len(ok.State))), ok.State...)
	}
	return dst
}

// AppendEOF encodes an EOF packet.
func AppendEOF(dst []byte, warnings uint16, status Status) []byte {
	dst = binary.LittleEndian.AppendUint16(append(dst, EOFHeader), warnings)
	return binary.LittleEndian.AppendUint16(dst, uint16(status))
}
