package admin

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/conntag/conntag/proxy"
)

func client(t *testing.T, base string) *Client {
	t.Helper()
	c, err := NewClient(base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.http.CloseIdleConnections)
	return c
}

func TestTheClientReadsWhatTheServerWrites(t *testing.T) {
	_, base := start(t, &fake{
		snapshot: proxy.Snapshot{Pools: []proxy.PoolSnapshot{ledger(account("checkout", 5))}},
		sessions: []proxy.SessionInfo{{ID: 1}},
	})
	c := client(t, base+"/")
	callers, err := c.Callers(t.Context(), "")
	if err != nil || len(callers.Callers) != 1 || callers.Callers[0].Name != "checkout" {
		t.Errorf("callers: %+v, %v", callers, err)
	}
	pools, err := c.Pools(t.Context(), "main")
	if err != nil || len(pools.Pools) != 1 || !pools.Pools[0].Up {
		t.Errorf("pools: %+v, %v", pools, err)
	}
	sessions, err := c.Sessions(t.Context())
	if err != nil || len(sessions.Sessions) != 1 {
		t.Errorf("sessions: %+v, %v", sessions, err)
	}
}

func TestAnUnreachableAPISaysWhatToLookAt(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + ln.Addr().String()
	_ = ln.Close() // nobody listens there now

	_, err = client(t, base).Pools(t.Context(), "")
	var unreachable *UnreachableError
	if !errors.As(err, &unreachable) || !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("got %v", err)
	}
	want := "the admin API at " + base + " does not answer: connect: connection refused; " +
		"is `conntag proxy` running there, and is --admin the address in its admin.listen?"
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
}

func TestARefusalIsShownInTheServersWords(t *testing.T) {
	_, base := start(t, &fake{})
	_, err := client(t, base).Callers(t.Context(), "nope")
	if err == nil || !strings.Contains(err.Error(), "no pool has that name; GET /api/v1/pools lists the pools") {
		t.Errorf("got %v", err)
	}
}

func TestAnotherServerIsToldFromConntag(t *testing.T) {
	for name, h := range map[string]http.Handler{
		"not found": http.NotFoundHandler(),
		"a page":    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }),
	} {
		other := httptest.NewServer(h)
		_, err := client(t, other.URL).Sessions(t.Context())
		if err == nil || !strings.Contains(err.Error(), "not as conntag's admin API; check --admin") {
			t.Errorf("%s: got %v", name, err)
		}
		other.Close()
	}
}

func TestNewClientRefusesWhatIsNotAURL(t *testing.T) {
	for _, base := range []string{"", "127.0.0.1:6080", "localhost", "ftp://x", "http://", "://"} {
		if _, err := NewClient(base); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:6080") {
			t.Errorf("%q: got %v", base, err)
		}
	}
}
