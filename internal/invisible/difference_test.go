package invisible

import (
	"testing"

	"github.com/conntag/conntag/proxy/wire"
)

func TestEveryPartOfAnAnswerIsCompared(t *testing.T) {
	ok := wire.OK{AffectedRows: 1, InsertID: 2, Status: wire.StatusAutocommit, Warnings: 3, Info: []byte("info")}
	bent := func(bend func(*wire.OK)) packet {
		o := ok
		bend(&o)
		return packet{packetOK, 1, string(o.AppendOK(nil))}
	}
	answer := func(p ...packet) Answer { return Answer{packets: p} }
	same := answer(bent(func(*wire.OK) {}))
	failure := func(code uint16, state, message string) packet {
		e := wire.ServerError{Code: code, State: state, Message: message}
		return packet{packetErr, 1, string(e.Append(nil))}
	}
	row := packet{packetRow, 1, "\x011"}
	for name, pair := range map[string][2]Answer{
		"affected":  {same, answer(bent(func(o *wire.OK) { o.AffectedRows++ }))},
		"id":        {same, answer(bent(func(o *wire.OK) { o.InsertID = 300 }))},
		"status":    {same, answer(bent(func(o *wire.OK) { o.Status |= wire.StatusInTrans }))},
		"warnings":  {same, answer(bent(func(o *wire.OK) { o.Warnings = 0 }))},
		"info":      {same, answer(bent(func(o *wire.OK) { o.Info = []byte("other") }))},
		"state":     {same, answer(bent(func(o *wire.OK) { o.State = wire.AppendTrack(nil, wire.TrackSchema, "one") }))},
		"sequence":  {same, answer(packet{packetOK, 2, same.packets[0].payload})},
		"a packet":  {answer(row), answer(row, row)},
		"a kind":    {answer(row), answer(packet{packetColumn, 1, row.payload})},
		"a row":     {answer(row), answer(packet{packetRow, 1, "\x012"})},
		"a code":    {answer(failure(1054, "HY000", "m")), answer(failure(1064, "HY000", "m"))},
		"a state":   {answer(failure(1054, "HY000", "m")), answer(failure(1054, "42000", "m"))},
		"a message": {answer(failure(1054, "HY000", "m")), answer(failure(1054, "HY000", "n"))},
		"an end":    {same, Answer{packets: same.packets, lost: "closed"}},
	} {
		if d := compare(pair[0], pair[0]); d != nil {
			t.Errorf("%s: an answer differs from itself: %v", name, d)
		}
		if compare(pair[0], pair[1]) == nil {
			t.Errorf("%s: a difference went unseen", name)
		}
	}
}

func TestOnlyWhatMayDifferIsBlanked(t *testing.T) {
	prepared := func(id byte) packet {
		return packet{packetPrepared, 1, "\x00" + string(id) + "\x00\x00\x00\x01\x00\x02\x00\x00\x00\x00"}
	}
	unknown := func(id string) packet {
		e := wire.ServerError{Code: 1243, State: "HY000", Message: "Unknown prepared statement handler (" + id + ") given to x"}
		return packet{packetErr, 1, string(e.Append(nil))}
	}
	for name, pair := range map[string][2]packet{
		"a statement's id":        {prepared(1), prepared(2)},
		"the id in a message":     {unknown("1"), unknown("20")},
		"the figures of a server": {{packetText, 1, "Uptime: 1"}, {packetText, 1, "Uptime: 2"}},
		"the salt of a login":     {{packetAuth, 1, "\xfeplugin\x00salt"}, {packetAuth, 1, "\xfeplugin\x00pepper"}},
		"slowness":                {{packetOK, 1, "\x00\x00\x00\x02\x08\x00\x00"}, {packetOK, 1, "\x00\x00\x00\x02\x00\x00\x00"}},
	} {
		pair[0].blank()
		pair[1].blank()
		if pair[0] != pair[1] {
			t.Errorf("%s: %q is not %q", name, pair[0].payload, pair[1].payload)
		}
	}
	a, b := packet{packetErr, 1, "\xff\x1e\x04#42000no (1)"}, packet{packetErr, 1, "\xff\x1e\x04#42000no (2)"}
	a.blank()
	b.blank()
	if a == b {
		t.Error("a number in another message is blanked")
	}
}
