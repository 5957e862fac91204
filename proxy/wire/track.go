package wire

// TrackKind is the type of a session-state entry in an OK packet.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_basic_ok_packet.html (SESSION_TRACK_*).
type TrackKind byte

// The entries that a session with all trackers on receives.
const (
	TrackSystemVariable  TrackKind = 0
	TrackSchema          TrackKind = 1
	TrackStateChange     TrackKind = 2
	TrackGTIDs           TrackKind = 3
	TrackTransaction     TrackKind = 4 // characteristics: the SQL that would start it again
	TrackTransactionFlag TrackKind = 5 // eight characters
)

// Track is one entry: a variable's Name and Value, or a Value alone. Both are slices of the packet.
type Track struct {
	Kind        TrackKind
	Name, Value []byte
}

// Tracks walks the entries of OK.State.
type Tracks struct {
	r, entry reader
	kind     TrackKind
}

// NewTracks starts a walk over state.
func NewTracks(state []byte) Tracks { return Tracks{r: reader{p: state}} }

// Next returns the next entry; ok is false at the end and at the first malformed entry.
func (t *Tracks) Next() (track Track, ok bool) {
	for len(t.entry.p) == 0 {
		if len(t.r.p) == 0 || t.r.bad {
			return Track{}, false
		}
		t.kind = TrackKind(t.r.byte())
		t.entry = reader{p: t.r.lenBytes()}
	}
	track.Kind = t.kind
	switch t.kind {
	case TrackSystemVariable: // MariaDB packs several variables into one entry
		track.Name = t.entry.lenBytes()
		track.Value = t.entry.lenBytes()
	case TrackGTIDs:
		t.entry.byte() // encoding
		track.Value = t.entry.lenBytes()
	case TrackSchema, TrackTransaction, TrackTransactionFlag:
		track.Value = t.entry.lenBytes()
	default: // TrackStateChange is a bare "1"
		track.Value = t.entry.rest()
	}
	if t.entry.bad {
		t.r.bad = true
		t.entry.p = nil
		return Track{}, false
	}
	return track, true
}

// AppendTrack encodes an entry with one value: a schema.
func AppendTrack(dst []byte, kind TrackKind, value string) []byte {
	inner := AppendLenString(nil, value)
	return append(AppendLenInt(append(dst, byte(kind)), uint64(len(inner))), inner...)
}

// FilterTracks keeps the entries that keep wants, in their order and form, at the start of state, and returns them.
// An entry with several variables is judged by its first.
func FilterTracks(state []byte, keep func(Track) bool) []byte {
	kept := state[:0]
	r := reader{p: state}
	for len(r.p) > 0 {
		entry := r.p
		r.byte()
		r.lenBytes()
		if r.bad {
			break
		}
		entry = entry[:len(entry)-len(r.p)]
		one := NewTracks(entry)
		if t, ok := one.Next(); ok && keep(t) {
			kept = append(kept, entry...)
		}
	}
	return kept
}
