package main

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestParseStatCPUAddsUserAndSystemTime(t *testing.T) {
	const tail = " S 1 26787 26787 0 -1 4194304 126 0 0 0 151 49 7 9 20 0 12 0 330595 3932160 522 18446744073709551615"
	for _, c := range []struct {
		name, stat string
		want       time.Duration
		malformed  bool
	}{
		{"plain name", "26792 (conntag)" + tail, 2 * time.Second, false},
		{"name with blanks and parentheses", "26792 (a b) (c) R 1)" + tail, 2 * time.Second, false},
		{"cut off", "26792 (conntag) S 1 2 3", 0, true},
		{"empty", "", 0, true},
		{"negative", "26792 (conntag) S 1 2 3 4 5 6 7 8 9 10 -1 49 0", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseStatCPU([]byte(c.stat))
			if got != c.want || errors.Is(err, errMalformed) != c.malformed {
				t.Errorf("got %v, %v, want %v, malformed %t", got, err, c.want, c.malformed)
			}
		})
	}
}

func TestStatusValueFindsTheWholeNameOnly(t *testing.T) {
	const status = "Name:\tVmRSS: 7\nVmHWM:\t   20140 kB\nVmRSS:\t   19996 kB\nRssAnon:\t    9000 kB\n" +
		"voluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t7\n"
	for _, c := range []struct {
		name string
		want uint64
	}{{"VmRSS", 19996}, {"voluntary_ctxt_switches", 150}, {"nonvoluntary_ctxt_switches", 7}} {
		if got, err := statusValue([]byte(status), c.name); err != nil || got != c.want {
			t.Errorf("statusValue(%s) = %d, %v, want %d", c.name, got, err, c.want)
		}
	}
	if got, err := parseSwitches([]byte(status)); err != nil || got != 157 {
		t.Errorf("parseSwitches = %d, %v, want 157", got, err)
	}
	if got, err := statusValue([]byte("VmRSS:\n"), "VmRSS"); !errors.Is(err, errMalformed) {
		t.Errorf("statusValue without a value = %d, %v, want %v", got, err, errMalformed)
	}
}

func TestReadUsageSeesThisProcess(t *testing.T) {
	u, err := readUsage(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if u.rssKiB == 0 || u.switches == 0 {
		t.Errorf("usage of this process: %+v, want memory and context switches", u)
	}
	if u, err := readUsage(-1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("usage of no process: %+v, %v, want %v", u, err, os.ErrNotExist)
	}
}
