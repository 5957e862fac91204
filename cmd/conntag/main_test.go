package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// conntag runs the program to its end.
func conntag(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func writeConfig(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "conntag.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestAWrongCommandLineIsOneLineAndExitCode2(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"bogus", `unknown command "bogus" for "conntag"`},
		{"show", "show needs to know what: callers, pools or sessions"},
		{"show everything", `unknown command "everything"`},
		{"show callers now", `unknown command "now"`},
		{"show callers --colour", "unknown flag: --colour"},
		{"show callers -o xml", `-o "xml" is unknown; one of: table, json`},
		{"show callers --admin 127.0.0.1:6080", "--admin: "},
		{"proxy now", `unknown command "now"`},
		{"check FILE", `unknown command "FILE"`},
		{"version -c x", "unknown shorthand flag: 'c'"},
	} {
		code, stdout, stderr := conntag(t, strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 || stdout != "" {
			t.Errorf("conntag %s: code %d, stdout %q, stderr %q, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestHelpAndCompletionAreThere(t *testing.T) {
	for _, args := range []string{"", "--help", "help show", "proxy --help", "completion bash", "version"} {
		if code, stdout, stderr := conntag(t, strings.Fields(args)...); code != exitOK || stdout == "" || stderr != "" {
			t.Errorf("conntag %s: code %d, %d bytes out, stderr %q", args, code, len(stdout), stderr)
		}
	}
}

func TestCheckSaysWhatAGoodFileMeans(t *testing.T) {
	file := writeConfig(t, "users:\n  - {name: app, password: secret}\n  - {name: b, password: secret}\npool:\n  size: 7\n")
	code, stdout, stderr := conntag(t, "check", "--config", file)
	want := file + " is fine: 2 users, clients on 127.0.0.1:6033, pool main of 7 at 127.0.0.1:3306, admin on 127.0.0.1:6080\n"
	if code != exitOK || stdout != want || stderr != "" {
		t.Errorf("code %d, stderr %q\ngot  %swant %s", code, stderr, stdout, want)
	}
}

func TestCheckAndProxyShowEveryProblemOfABadFile(t *testing.T) {
	file := writeConfig(t, "pool:\n  sise: 7\nlog:\n  level: loud\n")
	for _, command := range []string{"check", "proxy"} {
		code, stdout, stderr := conntag(t, command, "-c", file)
		lines := strings.Split(strings.TrimSpace(stderr), "\n")
		if code != exitUsage || stdout != "" || len(lines) != 3 || !strings.HasPrefix(lines[1], file+":2: pool.sise: ") {
			t.Errorf("%s: code %d, stdout %q, stderr:\n%s", command, code, stdout, stderr)
		}
	}
}

func TestCheckFindsACertificateThatIsNone(t *testing.T) {
	file := writeConfig(t, "users:\n  - {name: app, password: secret}\nproxy:\n  tls: {mode: required, cert_file: conntag.yaml, key_file: conntag.yaml}\n")
	code, _, stderr := conntag(t, "check", "-c", file)
	if code != exitUsage || !strings.HasPrefix(stderr, file+": proxy.tls: ") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}
