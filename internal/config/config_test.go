package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const rootConfig = "../../config.yaml"

func TestTheConfigAtTheRootIsTheDefaultsAndOneUser(t *testing.T) {
	text, err := os.ReadFile(rootConfig)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(rootConfig, text, testEnv)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Users) != 1 || got.Users[0].Password != "s3cret" {
		t.Errorf("users: got %d, want one whose password comes from the environment", len(got.Users))
	}
	got.Users = nil
	if diff := cmp.Diff(Default(), got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("config.yaml is not what an empty file means (-default +config.yaml):\n%s", diff)
	}
}

func TestTheConfigAtTheRootShowsEveryKey(t *testing.T) {
	text, err := os.ReadFile(rootConfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range allKeys("", reflect.TypeFor[Config]()) {
		key := path[strings.LastIndexByte(path, '.')+1:]
		if !regexp.MustCompile(`(?m)^[ #-]*` + key + `:`).Match(text) {
			t.Errorf("config.yaml does not show %s", path)
		}
	}
}

// allKeys also proves that every field of every section has a YAML name.
func allKeys(path string, typ reflect.Type) []string {
	if typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct {
		return []string{path}
	}
	var out []string
	for i := range typ.NumField() {
		name := typ.Field(i).Tag.Get("yaml")
		if name == "" {
			panic(typ.String() + "." + typ.Field(i).Name + " has no yaml name")
		}
		out = append(out, allKeys(join(path, name), typ.Field(i).Type)...)
	}
	return out
}

func TestDefaultsAreSoundInEverySection(t *testing.T) {
	d := newDecoder("defaults", testEnv)
	c := Default()
	d.validate(c)
	if len(d.problems) != 1 || d.problems[0].Path != "users" {
		t.Errorf("got %v, want only that there are no users", d.problems)
	}
}

func TestAnEmptySectionKeepsItsDefaults(t *testing.T) {
	got := parse(t, "proxy:\n  # all lines are comments\npool: {}\n")
	if diff := cmp.Diff(Default().Proxy, got.Proxy); diff != "" {
		t.Error(diff)
	}
}

func TestAListReplacesTheDefaultList(t *testing.T) {
	got := parse(t, "attribution:\n  keys: [app, controller]\n")
	if diff := cmp.Diff([]string{"app", "controller"}, got.Attribution.Keys); diff != "" {
		t.Error(diff)
	}
}

func TestAnAliasStandsForItsAnchor(t *testing.T) {
	got := parse(t, "proxy:\n  handshake_timeout: &short 3s\nbackend:\n  connect_timeout: *short\n")
	if got.Backend.ConnectTimeout != 3*time.Second {
		t.Errorf("connect_timeout: got %s, want 3s", got.Backend.ConnectTimeout)
	}
}

func TestAPasswordFileLosesOneLineBreak(t *testing.T) {
	for file, want := range map[string]string{"password.txt": "from a file", "crlf.txt": "from windows"} {
		got := parseFull(t, "users:\n  - {name: app, password_file: "+file+", backend_password_file: "+file+"}\n")
		if got.Users[0].Password != want || got.Users[0].BackendPassword != want {
			t.Errorf("%s: got %q and %q, want %q", file, got.Users[0].Password, got.Users[0].BackendPassword, want)
		}
	}
}

func TestAnAbsolutePathStaysAsItIs(t *testing.T) {
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("p"), 0o600); err != nil {
		t.Fatal(err)
	}
	got := parseFull(t, "users:\n  - {name: app, password_file: "+file+"}\n")
	if got.Users[0].PasswordFile != file || got.Users[0].Password != "p" {
		t.Errorf("got %q with password %q", got.Users[0].PasswordFile, got.Users[0].Password)
	}
}

func TestProblemsNeverShowAPassword(t *testing.T) {
	const secret = "hunter2"
	for _, entry := range []string{
		"password: [hunter2]", "password: {hunter2: 1}", "password: !custom hunter2", "password: hunter2${", "password: 'hunter2${no name}'",
		"password: hunter2\n    password_file: password.txt", "password: hunter2\n    password: hunter2",
		"password: hunter2\n    backend_password: {a: hunter2}",
	} {
		_, err := Parse("testdata/x.yaml", []byte("users:\n  - name: app\n    "+entry+"\n"), testEnv)
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v", entry, err)
		}
	}
}

func TestLoadNamesAFileThatItCannotRead(t *testing.T) {
	_, err := Load("testdata/none.yaml")
	var p *Problems
	if !errors.As(err, &p) || len(p.List) != 1 {
		t.Fatalf("got %v, want *Problems", err)
	}
	if want := "testdata/none.yaml: no such file or directory; name the file with --config"; err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestLoadUsesTheEnvironmentOfTheProcess(t *testing.T) {
	t.Setenv("CONNTAG_TEST_PASSWORD", "from the process")
	file := filepath.Join(t.TempDir(), "conntag.yaml")
	if err := os.WriteFile(file, []byte("users:\n  - {name: app, password: \"${CONNTAG_TEST_PASSWORD}\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(file)
	if err != nil || c.Users[0].Password != "from the process" {
		t.Errorf("got %+v, %v", c.Users, err)
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	files, err := filepath.Glob("testdata/*.bad.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range append(files, rootConfig) {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("a: &a [*a]\nusers: &u [*u]\npool: &p {size: *p}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := Parse("fuzz.yaml", text, testEnv); err != nil {
			var p *Problems
			if !errors.As(err, &p) || len(p.List) == 0 {
				t.Errorf("got %#v, want a *Problems with entries", err)
			}
		}
	})
}

// parse adds a user to text.
func parse(t *testing.T, text string) Config {
	t.Helper()
	return parseFull(t, text+"users:\n  - {name: app, password: secret}\n")
}

func parseFull(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse("testdata/good.yaml", []byte(text), testEnv)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
