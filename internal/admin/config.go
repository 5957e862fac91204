package admin

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Config is where the admin API listens and which host names it answers to.
type Config struct {
	Listen string `yaml:"listen"` // host:port; port 0 takes a free one
	// AllowedHosts are host names, without a port, that requests may name besides IP addresses and
	// localhost: the service name under which Prometheus scrapes, for example.
	AllowedHosts []string `yaml:"allowed_hosts"`
}

// DefaultConfig is reachable from this machine only, since there is no login.
func DefaultConfig() Config {
	return Config{Listen: "127.0.0.1:6080"}
}

// Validate returns every problem; each starts with the field's path inside the section.
func (c Config) Validate() []error {
	var errs []error
	if !isHostPort(c.Listen) {
		errs = append(errs, fmt.Errorf("listen: %q is not host:port; write for example 127.0.0.1:6080", c.Listen))
	}
	for i, h := range c.AllowedHosts {
		if h == "" || strings.ContainsAny(h, ":/ *") {
			errs = append(errs, fmt.Errorf("allowed_hosts[%d]: %q is not a host name; write it without scheme, port or wildcard", i, h))
		}
	}
	return errs
}

func isHostPort(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || strings.ContainsAny(host, " /") {
		return false
	}
	n, err := strconv.Atoi(port)
	return err == nil && n >= 0 && n <= 65535
}
