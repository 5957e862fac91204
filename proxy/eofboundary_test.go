package proxy_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
	"github.com/conntag/conntag/proxy/wiretest"
)

// bothForms builds one reply in the form of the backend and in the form of a client with DeprecateEOF.
type bothForms struct {
	classic, modern       []byte
	classicSeq, modernSeq byte
}

func (f *bothForms) both(p []byte) {
	f.classicOnly(p)
	f.modern, f.modernSeq = wire.AppendPacket(f.modern, f.modernSeq, p)
}

func (f *bothForms) classicOnly(p []byte) {
	f.classic, f.classicSeq = wire.AppendPacket(f.classic, f.classicSeq, p)
}

// result appends a result set of rows with the given sizes.
func (f *bothForms) result(more bool, sizes ...int) {
	status := byte(wire.StatusAutocommit)
	if more {
		status |= byte(wire.StatusMoreResults)
	}
	f.both([]byte{1})
	definition := wire.AppendLenString(nil, "def")
	for range 5 {
		definition = wire.AppendLenString(definition, "name")
	}
	f.both(append(definition, 0x0c, 45, 0, 0, 4, 0, 0, 0xfd, 0, 0, 0, 0, 0))
	f.classicOnly([]byte{0xfe, 0, 0, status, 0})
	for i, size := range sizes {
		f.both(wire.AppendLenString(nil, string(bytes.Repeat([]byte{byte(i)}, size))))
	}
	f.classicOnly([]byte{0xfe, 0, 0, status, 0})
	f.modern, f.modernSeq = wire.AppendPacket(f.modern, f.modernSeq, []byte{0xfe, 0, 0, status, 0, 0, 0})
}

// boundaryReplies end their definitions and rows on every place around the ends of the relay's buffers, of 16 and 64 KiB.
func boundaryReplies() (replies []*bothForms) {
	add := func(build func(*bothForms)) {
		f := &bothForms{classicSeq: 1, modernSeq: 1}
		build(f)
		replies = append(replies, f)
	}
	for near := range 90 {
		add(func(f *bothForms) { f.result(false, 16<<10-near) })
		add(func(f *bothForms) { f.result(true, 16<<10-near); f.result(false, 1) })
		add(func(f *bothForms) { f.result(false, 20<<10, 64<<10-near) })
		add(func(f *bothForms) { f.result(true, 20<<10); f.result(true, 64<<10-near); f.result(false, 64<<10-near) })
	}
	for _, size := range []int{0, 1, 7, 100, 600} {
		add(func(f *bothForms) {
			for i := range 1500 {
				f.result(true, size+i%5)
			}
			f.result(false)
		})
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		add(func(f *bothForms) {
			for range 20 {
				sizes := make([]int, rnd.IntN(20))
				for i := range sizes {
					sizes[i] = rnd.IntN(1 << rnd.IntN(16))
				}
				f.result(true, sizes...)
			}
			f.result(false, 3)
		})
	}
	return replies
}

func TestTranslationIsRightWhereverTheBufferEnds(t *testing.T) {
	replies := boundaryReplies()
	b := mysql8(t, wiretest.Server{Reply: func(p *wiretest.Peer, command []byte) error {
		n, err := strconv.Atoi(string(command[1:]))
		if err != nil {
			return p.OK()
		}
		_, err = p.Write(replies[n].classic)
		return err
	}})
	h := backendHouse(t, b.Addr())
	login := appLogin()
	login.Capabilities = replyForms["modern"]
	c := h.loggedIn(t, login)
	for i, r := range replies {
		if err := c.Send(wire.ComQuery, strconv.Itoa(i)); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(r.modern))
		if _, err := io.ReadFull(c, got); err != nil {
			t.Fatalf("reply %d: %v", i, err)
		}
		if !bytes.Equal(got, r.modern) {
			t.Fatalf("reply %d differs: %s", i, firstDifference(got, r.modern))
		}
	}
	if got := queryRaw(t, c, "end"); got != "" { // nothing was left over
		t.Errorf("got %q behind the last reply", got)
	}
}

func firstDifference(got, want []byte) string {
	at := 0
	for at < len(got) && at < len(want) && got[at] == want[at] {
		at++
	}
	return fmt.Sprintf("at %d of %d got %.20x, want %.20x", at, len(want), got[at:], want[at:])
}
