package main

import (
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestOptionsReadWhatTheFlagsSay(t *testing.T) {
	got, err := parseOptions([]string{"--threads=1,64", "--rounds=2", "--time=3s", "--idle=0", "--db=127.0.0.1:3306",
		"--peers=haproxy=127.0.0.1:6000,proxysql=127.0.0.1:6001@42"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := options{threads: []int{1, 64}, rounds: 2, cell: 3 * time.Second, pool: 16, db: "127.0.0.1:3306",
		peers: []peer{{name: "haproxy", addr: "127.0.0.1:6000"}, {name: "proxysql", addr: "127.0.0.1:6001", pid: 42}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(options{}, peer{})); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}

func TestOptionsRefuseWhatCannotBeMeasured(t *testing.T) {
	for _, arg := range []string{"--threads=0", "--threads=8,", "--rounds=0", "--time=500ms", "--time=1500ms", "--idle=-1", "--pool=0",
		"--peers=haproxy", "--peers==127.0.0.1:1", "--peers=a=127.0.0.1", "--peers=a=127.0.0.1:1@x", "--peers=a=127.0.0.1:1", "more"} {
		if _, err := parseOptions([]string{arg}, io.Discard); err == nil {
			t.Errorf("parseOptions accepts %s", arg)
		}
	}
}
