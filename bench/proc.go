package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc/PID/stat: USER_HZ, which is 100 on every Linux that Go runs on.
const clockTick = time.Second / 100

// usage is what a process has used since its start, and its memory now. See proc(5).
type usage struct {
	cpu      time.Duration // user and system time
	switches uint64        // context switches of its living threads
	rssKiB   uint64
}

func readUsage(pid int) (usage, error) {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	var u usage
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return u, err
	}
	if u.cpu, err = parseStatCPU(stat); err != nil {
		return u, err
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return u, err
	}
	if u.rssKiB, err = statusValue(status, "VmRSS"); err != nil {
		return u, err
	}
	u.switches, err = readSwitches(dir)
	return u, err
}

// readSwitches adds up the threads: the process's own status holds those of its first thread only.
func readSwitches(dir string) (uint64, error) {
	tasks, err := filepath.Glob(filepath.Join(dir, "task", "*", "status"))
	if err != nil {
		return 0, err
	}
	var sum uint64
	for _, name := range tasks {
		status, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) {
			continue // the thread has ended since
		}
		if err != nil {
			return 0, err
		}
		n, err := parseSwitches(status)
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

var errMalformed = errors.New("malformed /proc file")

// parseStatCPU adds utime and stime, fields 14 and 15. Field 2 is the program's name in parentheses, and may hold
// anything.
func parseStatCPU(stat []byte) (time.Duration, error) {
	const afterName = 3 // the first field behind the name
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= 15-afterName {
		return 0, fmt.Errorf("%w: stat %q", errMalformed, stat)
	}
	var ticks uint64
	for _, f := range fields[14-afterName : 16-afterName] {
		n, err := strconv.ParseUint(f, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%w: stat %q", errMalformed, stat)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

func parseSwitches(status []byte) (uint64, error) {
	voluntary, err := statusValue(status, "voluntary_ctxt_switches")
	if err != nil {
		return 0, err
	}
	forced, err := statusValue(status, "nonvoluntary_ctxt_switches")
	return voluntary + forced, err
}

// statusValue reads a number out of a status file; a unit behind it (always kB) is ignored.
func statusValue(status []byte, name string) (uint64, error) {
	for line := range strings.Lines(string(status)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok || key != name {
			continue
		}
		if fields := strings.Fields(value); len(fields) > 0 {
			return strconv.ParseUint(fields[0], 10, 64)
		}
	}
	return 0, fmt.Errorf("%w: no %s in status", errMalformed, name)
}
