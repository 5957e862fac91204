package mariadbtest

// Option changes how Start sets a server up.
type Option func(*options)

type options struct {
	flags     []string
	databases []string
	users     []user
	sql       []string
	tls       bool
}

type user struct{ name, password string }

// defaultFlags keep a server small (about 80 MB resident) and independent of name resolution. The commit log is written
// but not synced: a killed server loses nothing, and tests on a disk do not wait for it.
var defaultFlags = []string{
	"--skip-name-resolve",
	"--max-connections=200",
	"--max-allowed-packet=64M",
	"--local-infile=ON",
	"--performance-schema=OFF",
	"--innodb-flush-log-at-trx-commit=2",
	"--table-open-cache=400",
}

// sizeFlags shape the files of a datadir: a template is built with the very flags its copies run with.
var sizeFlags = []string{
	"--innodb-buffer-pool-size=32M",
	"--innodb-log-file-size=16M",
	"--innodb-log-buffer-size=2M",
	"--key-buffer-size=64K",
	"--aria-pagecache-buffer-size=1M",
}

// WithFlags adds mariadbd flags such as "--max-connections=20". They come after the defaults, so they win.
func WithFlags(flags ...string) Option {
	return func(o *options) { o.flags = append(o.flags, flags...) }
}

// WithDatabase creates empty databases.
func WithDatabase(names ...string) Option {
	return func(o *options) { o.databases = append(o.databases, names...) }
}

// WithUser creates a user with all privileges, from any host. An empty password is allowed.
func WithUser(name, password string) Option {
	return func(o *options) { o.users = append(o.users, user{name, password}) }
}

// WithSQL runs statements as root once the server is up, after databases and users exist.
func WithSQL(statements ...string) Option {
	return func(o *options) { o.sql = append(o.sql, statements...) }
}

// WithTLS makes the server offer TLS with a certificate for 127.0.0.1 and localhost, signed by a CA of its own. See
// Instance.TLSFiles and Instance.TLSConfig.
func WithTLS() Option {
	return func(o *options) { o.tls = true }
}
