//go:build !race

// The race detector makes sync.Pool drop buffers at random, so allocations are counted without it.

package proxy_test

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/conntag/conntag/proxy/wire"
)

func TestStatementsAllocateNothingInSteadyState(t *testing.T) {
	h := newHouse(t, 2)
	c := h.rawClient(t)
	c.roundTrip(t, framed(wire.ComQuery, "CREATE TABLE t (id INT PRIMARY KEY, v INT)"), wire.ShapeResults)
	c.roundTrip(t, framed(wire.ComQuery, "INSERT INTO t VALUES (1,1)"), wire.ShapeResults)
	prepared := c.roundTrip(t, framed(wire.ComStmtPrepare, "/* conn_tag:alloc */ SELECT v FROM t WHERE id=?"), wire.ShapePrepare)
	id := binary.LittleEndian.Uint32(prepared[wire.HeaderLen+1:])
	cases := map[string][][]byte{
		"text":        {framed(wire.ComQuery, "SELECT v FROM t WHERE id=1")},
		"tagged text": {framed(wire.ComQuery, "/* conn_tag:alloc */ SELECT v FROM t WHERE id=1")},
		"prepared":    {execute(id, 1)},
		"transaction": {framed(wire.ComQuery, "BEGIN"), framed(wire.ComQuery, "/* conn_tag:alloc */ UPDATE t SET v=v+1 WHERE id=1"), framed(wire.ComQuery, "COMMIT")},
	}
	for name, commands := range cases {
		t.Run(name, func(t *testing.T) {
			allocs := testing.AllocsPerRun(500, func() {
				for _, cmd := range commands {
					c.roundTrip(t, cmd, wire.ShapeResults)
				}
			})
			if allocs != 0 {
				t.Errorf("%v allocations, want 0", allocs)
			}
		})
	}
}

func TestTranslatedRepliesAllocateNothing(t *testing.T) {
	h := newHouse(t, 2)
	c := h.modernClient(t)
	cases := map[string]string{
		"one row":      "SELECT 1",
		"long":         "SELECT REPEAT('x', 200) FROM seq_1_to_1000",
		"many results": strings.Repeat("SELECT 1;", 50) + "SELECT 2",
	}
	for name, sql := range cases {
		t.Run(name, func(t *testing.T) {
			cmd := framed(wire.ComQuery, sql)
			size := h.modernSize(t, sql)
			for range 20 { // the backend connections get their buffers
				c.exactly(t, cmd, size)
			}
			if allocs := testing.AllocsPerRun(300, func() { c.exactly(t, cmd, size) }); allocs != 0 {
				t.Errorf("%v allocations, want 0", allocs)
			}
		})
	}
}
