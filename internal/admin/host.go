package admin

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// knownHost reports whether a Host header may be answered. An IP address is safe: a page that attacks by
// DNS rebinding is always under a name. HTTP/1.0 health checks send no Host, and browsers always do.
func knownHost(header string, allowed []string) bool {
	host := header
	if h, _, err := net.SplitHostPort(header); err == nil {
		host = h
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "" || host == "localhost" ||
		slices.ContainsFunc(allowed, func(a string) bool { return strings.EqualFold(a, host) })
}

// checkHost refuses requests that name a host we do not go by.
func checkHost(allowed []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !knownHost(r.Host, allowed) {
			writeError(w, http.StatusForbidden, "this API does not go by that host name",
				"use the IP address or localhost, or add the name to admin.allowed_hosts")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// isLoopback reports whether only this machine can reach addr.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
