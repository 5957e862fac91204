package config

import (
	"fmt"
	"os"
	"strings"

	"github.com/conntag/conntag/attribution"
	"github.com/conntag/conntag/internal/admin"
	"github.com/conntag/conntag/pool"
	"github.com/conntag/conntag/proxy"
)

// Config is the whole file. Every section is owned, documented and checked by the package that uses it.
type Config struct {
	Proxy       proxy.Config        `yaml:"proxy"`
	Users       []proxy.User        `yaml:"users"`
	Backend     proxy.BackendConfig `yaml:"backend"`
	Pool        pool.Config         `yaml:"pool"`
	Attribution attribution.Config  `yaml:"attribution"`
	Admin       admin.Config        `yaml:"admin"`
	Log         Log                 `yaml:"log"`
}

// Default is what an empty file means. It has no users, so it is not complete: see Parse.
func Default() Config {
	return Config{
		Proxy:       proxy.DefaultConfig(),
		Backend:     proxy.DefaultBackendConfig(),
		Pool:        pool.DefaultConfig(),
		Attribution: attribution.DefaultConfig(),
		Admin:       admin.DefaultConfig(),
		Log:         DefaultLog(),
	}
}

// Load reads the file at path with the environment of this process. The error is always a *Problems.
func Load(path string) (Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		p := Problem{File: path, Text: reason(err) + "; name the file with --config"}
		return Config{}, &Problems{List: []Problem{p}}
	}
	return Parse(path, text, os.LookupEnv)
}

// Parse reads text as the file called name, which is used in problems and as the base of relative paths.
// env looks up a variable for ${NAME}, as os.LookupEnv does. The error is always a *Problems; the Config
// is complete only when it is nil.
func Parse(name string, text []byte, env func(string) (string, bool)) (Config, error) {
	c := Default()
	d := newDecoder(name, env)
	if d.document(text, &c) {
		d.readPasswords(c.Users)
		d.validate(c)
	}
	return c, d.result()
}

// validate asks each section, then looks at what no single section can see.
func (d *decoder) validate(c Config) {
	d.section("proxy", c.Proxy.Validate())
	for i, u := range c.Users {
		d.section(fmt.Sprintf("users.%d", i), u.Validate())
	}
	d.section("backend", c.Backend.Validate())
	d.section("pool", c.Pool.Validate())
	d.section("attribution", c.Attribution.Validate())
	d.section("admin", c.Admin.Validate())
	d.section("log", c.Log.Validate())

	if len(c.Users) == 0 {
		d.add("users", "names nobody, so no client could log in; add at least one user")
	}
	first := map[string]int{}
	for i, u := range c.Users {
		path := fmt.Sprintf("users.%d.name", i)
		if j, taken := first[u.Name]; taken && u.Name != "" {
			d.add(path, "%q is already users[%d] (line %d); give each user once", u.Name, j, d.line(fmt.Sprintf("users.%d", j)))
			continue
		}
		first[u.Name] = i
	}
	if c.Admin.Listen == c.Proxy.Listen && c.Admin.Listen != "" && !strings.HasSuffix(c.Admin.Listen, ":0") { // 0 is any free port
		d.add("admin.listen", "%s is also proxy.listen; give the admin API a port of its own", c.Admin.Listen)
	}
}

// section adds what a section's Validate found: "path in section: what is wrong; what to do".
func (d *decoder) section(name string, errs []error) {
	for _, err := range errs {
		path, text, ok := strings.Cut(err.Error(), ": ")
		if !ok {
			path, text = "", err.Error()
		}
		d.add(join(name, dotted(path)), "%s", text)
	}
}
