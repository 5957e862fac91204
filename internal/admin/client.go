package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	clientTimeout = 10 * time.Second
	maxReply      = 256 << 20 // bytes; a busy proxy's sessions are a few MiB
)

// Client reads the admin API of a running proxy.
type Client struct {
	base string
	http *http.Client
}

// NewClient takes the base URL of the API, for example http://127.0.0.1:6080.
func NewClient(base string) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is not the URL of an admin API; write for example http://127.0.0.1:6080", base)
	}
	return &Client{base: strings.TrimSuffix(u.String(), "/"), http: &http.Client{Timeout: clientTimeout}}, nil
}

// Callers asks for the callers of one pool, or of all when pool is empty.
func (c *Client) Callers(ctx context.Context, pool string) (CallersReply, error) {
	var r CallersReply
	err := c.get(ctx, "/api/v1/callers"+poolQuery(pool), &r)
	return r, err
}

// Pools asks for one pool, or for all when pool is empty.
func (c *Client) Pools(ctx context.Context, pool string) (PoolsReply, error) {
	var r PoolsReply
	err := c.get(ctx, "/api/v1/pools"+poolQuery(pool), &r)
	return r, err
}

// Sessions asks for every client connection.
func (c *Client) Sessions(ctx context.Context) (SessionsReply, error) {
	var r SessionsReply
	err := c.get(ctx, "/api/v1/sessions", &r)
	return r, err
}

// UnreachableError says that nothing answered at the URL. Its text tells what to look at.
type UnreachableError struct {
	URL string
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the admin API at %s does not answer: %v; is `conntag proxy` running there, and is --admin the address in its admin.listen?", e.URL, e.Err)
}

func (e *UnreachableError) Unwrap() error { return e.Err }

func (c *Client) get(ctx context.Context, path string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return fmt.Errorf("ask the admin API: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return &UnreachableError{URL: c.base, Err: cause(err)}
	}
	defer func() { _ = resp.Body.Close() }() // only read from
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxReply))
	if err != nil {
		return &UnreachableError{URL: c.base, Err: cause(err)}
	}
	if resp.StatusCode != http.StatusOK {
		return refused(c.base, resp.Status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s answered, but not as conntag's admin API; check --admin: %w", c.base, err)
	}
	return nil
}

// refused turns an answer other than 200 into an error: ours says what to do, any other is not from conntag.
func refused(base, status string, body []byte) error {
	var e Error
	if err := json.Unmarshal(body, &e); err != nil || e.Error == "" {
		return fmt.Errorf("%s answered %s, but not as conntag's admin API; check --admin", base, status)
	}
	return fmt.Errorf("the admin API at %s refused: %s; %s", base, e.Error, e.Do)
}

// cause drops the layers that repeat the method and the URL.
func cause(err error) error {
	var ue *url.Error
	if errors.As(err, &ue) {
		if ue.Timeout() {
			return errors.New("no reply in time")
		}
		err = ue.Err
	}
	var oe *net.OpError
	if errors.As(err, &oe) {
		err = oe.Err
	}
	return err
}

func poolQuery(pool string) string {
	if pool == "" {
		return ""
	}
	return "?pool=" + url.QueryEscape(pool)
}
