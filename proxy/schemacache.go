package proxy

import (
	"sync"
	"time"
)

// schemaTTL is how long a schema counts as existing after a login or look said so. A login into a schema that was
// dropped meanwhile succeeds, and its first statement gets the server's 1049.
const schemaTTL = 10 * time.Second

// schemaCache spares logins the trip to the backend: a thousand clients that connect at once name one schema.
type schemaCache struct {
	mu   sync.Mutex
	seen map[[2]string]time.Time // by user and schema
}

func (c *schemaCache) known(user, schema string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Since(c.seen[[2]string{user, schema}]) < schemaTTL
}

func (c *schemaCache) note(user, schema string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil || len(c.seen) > 10000 {
		c.seen = map[[2]string]time.Time{}
	}
	c.seen[[2]string{user, schema}] = time.Now()
}
