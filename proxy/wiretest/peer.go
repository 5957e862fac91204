package wiretest

import (
	"fmt"

	"github.com/conntag/conntag/proxy/wire"
)

// OK answers with an OK packet.
func (p *Peer) OK() error { return p.OKWith(wire.OK{Status: wire.StatusAutocommit}) }

// OKWith answers with ok, laid out as the client's capabilities want it.
func (p *Peer) OKWith(ok wire.OK) error {
	if !p.Login.Capabilities.Has(wire.SessionTrack) {
		ok.State = nil
	}
	return p.write(ok.AppendOK(nil))
}

// Err answers with an ERR packet.
func (p *Peer) Err(code uint16, message string) error {
	e := wire.ServerError{Code: code, State: "HY000", Message: message}
	return p.write(e.Append(nil))
}

// Rows answers with a text result set whose columns are all VARCHAR.
func (p *Peer) Rows(columns []string, rows ...[]string) error {
	packets := [][]byte{wire.AppendLenInt(nil, uint64(len(columns)))}
	for _, name := range columns {
		packets = append(packets, definition(name))
	}
	end := wire.AppendEOF(nil, 0, wire.StatusAutocommit)
	if p.Login.Capabilities.Has(wire.DeprecateEOF) {
		end = []byte{wire.EOFHeader, 0, 0, byte(wire.StatusAutocommit), 0, 0, 0} // an OK under EOF's header
	} else {
		packets = append(packets, end)
	}
	for _, row := range rows {
		if len(row) != len(columns) {
			return fmt.Errorf("row has %d values for %d columns", len(row), len(columns))
		}
		var packet []byte
		for _, v := range row {
			packet = wire.AppendLenString(packet, v)
		}
		packets = append(packets, packet)
	}
	return p.write(append(packets, end)...)
}

// definition describes a VARCHAR column in utf8mb4.
func definition(name string) []byte {
	d := wire.AppendLenString(nil, "def")
	for _, field := range []string{"", "", "", name, name} {
		d = wire.AppendLenString(d, field)
	}
	return append(d, 0x0c, 45, 0, 0, 4, 0, 0, 0xfd, 0, 0, 0, 0, 0)
}

// write sends packets in one piece, so that Fault's counts are of the reply alone.
func (p *Peer) write(packets ...[]byte) error {
	var out []byte
	for _, packet := range packets {
		out, p.Seq = wire.AppendPacket(out, p.Seq, packet)
	}
	_, err := p.Write(out)
	return err
}
