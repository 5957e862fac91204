package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// demoLimit is generous: it only bounds how long a test that fails takes.
const demoLimit = time.Minute

// demoCommand is the built program's demo. Its variable is that of its children too, by which they are found.
func demoCommand(t *testing.T, binary string, args ...string) (cmd *exec.Cmd, variable string) {
	ctx, cancel := context.WithTimeout(t.Context(), demoLimit)
	t.Cleanup(cancel)
	variable = "CONNTAG_DEMO_TEST=" + t.Name()
	cmd = exec.CommandContext(ctx, binary, append([]string{"demo"}, args...)...)
	cmd.Env = append(os.Environ(), variable)
	return cmd, variable
}

func buildProgram(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "conntag")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

func TestASignalEndsTheDemoAndLeavesNothingBehind(t *testing.T) {
	const starting, started, running, kept = "conntag demo: ", "  admin ", "CALLER ", "The workload has ended"
	const interrupted = "conntag: interrupted before the run began\n"
	binary := buildProgram(t)
	for name, c := range map[string]struct {
		signal   os.Signal
		line     string // upon which the signal is sent
		duration string
		code     int
		stdout   string // somewhere in it
		stderr   string
	}{
		"SIGINT while it starts":  {os.Interrupt, starting, "10m", exitFailed, "", interrupted},
		"SIGTERM while it starts": {syscall.SIGTERM, starting, "10m", exitFailed, "", interrupted},
		"SIGTERM as it begins":    {syscall.SIGTERM, started, "10m", exitOK, "", ""},
		"SIGHUP as it begins":     {syscall.SIGHUP, started, "10m", exitOK, "", ""},
		"SIGINT while it runs":    {os.Interrupt, running, "10m", exitOK, "Fix: ", ""},
		"SIGINT while it is kept": {os.Interrupt, kept, "1s", exitOK, "Fix: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd, variable := demoCommand(t, binary, "--keep", "--duration", c.duration)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			stdout := signalUpon(t, cmd, c.line, c.signal)
			_ = cmd.Wait() // how it ended is looked at next
			if code := cmd.ProcessState.ExitCode(); code != c.code || stderr.String() != c.stderr || !strings.Contains(stdout, c.stdout) {
				t.Errorf("code %d, stderr %q, stdout:\n%s", code, stderr.String(), stdout)
			}
			leftNothing(t, variable, stdout, c.line != starting)
		})
	}
}

func TestTheReaderOfTheDemoMayLeave(t *testing.T) {
	cmd, variable := demoCommand(t, buildProgram(t), "--duration", "10m")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := ""
	for lines := bufio.NewScanner(out); !strings.Contains(read, "  admin ") && lines.Scan(); {
		read += lines.Text() + "\n"
	}
	_ = out.Close()
	_ = cmd.Wait() // how it ended is looked at next
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Errorf("exit code %d, want %d", code, exitFailed)
	}
	leftNothing(t, variable, read, true)
}

// leftNothing fails the test when a child of the demo is still there, or the database's directory, which the demo has
// printed if it came that far.
func leftNothing(t *testing.T, variable, stdout string, printed bool) {
	t.Helper()
	if left := processesWith(t, variable); len(left) > 0 {
		t.Errorf("left running: %q", left)
	}
	m := regexp.MustCompile(`pid \d+, in (\S+)`).FindStringSubmatch(stdout)
	if (m != nil) != printed {
		t.Fatalf("place of the database: %q, in:\n%s", m, stdout)
	}
	if m == nil {
		return
	}
	if _, err := os.Stat(m[1]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left %s: %v", m[1], err)
	}
}

// signalUpon starts cmd, sends it a signal once, when it has printed a line that starts so, and returns all it prints.
func signalUpon(t *testing.T, cmd *exec.Cmd, line string, s os.Signal) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	sent := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if !sent && strings.HasPrefix(lines.Text(), line) {
			sent = true
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
	}
	return all.String()
}

// processesWith lists the processes that have a variable in their environment.
func processesWith(t *testing.T, variable string) (found []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // another user's, or gone
		}
		if bytes.Contains(append([]byte{0}, env...), []byte("\x00"+variable+"\x00")) {
			command, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
			found = append(found, string(bytes.ReplaceAll(command, []byte{0}, []byte{' '})))
		}
	}
	return found
}

func TestDemoRefusesAWrongCommandLine(t *testing.T) {
	for args, want := range map[string]string{
		"demo now":              `unknown command "now"`,
		"demo -o yaml":          `-o "yaml" is unknown; one of: table, json`,
		"demo --clients 3":      "--clients: must be between 7 (one per caller) and 400, is 3",
		"demo --duration 100ms": "--duration: must be between 1s and 10m0s, is 100ms",
	} {
		code, stdout, stderr := conntag(t, strings.Fields(args)...)
		if code != exitUsage || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("conntag %s: code %d, stdout %q, stderr %q", args, code, stdout, stderr)
		}
	}
}
