package wire

// Capability is the word of features that client and server agree on at login.
// Source: dev.mysql.com/doc/dev/mysql-server/latest/group__group__cs__capabilities__flags.html.
type Capability uint32

// The capability bits by their protocol names, those included that we refuse.
const (
	LongPassword     Capability = 1 << 0 // on MariaDB called CLIENT_MYSQL: clear means "extended capabilities follow"
	FoundRows        Capability = 1 << 1 // affected rows of UPDATE are the rows found
	LongFlag         Capability = 1 << 2
	ConnectWithDB    Capability = 1 << 3
	NoSchema         Capability = 1 << 4
	Compress         Capability = 1 << 5 // zlib
	ODBC             Capability = 1 << 6
	LocalFiles       Capability = 1 << 7
	IgnoreSpace      Capability = 1 << 8
	Protocol41       Capability = 1 << 9
	Interactive      Capability = 1 << 10 // refused: only chooses another idle timeout
	SSL              Capability = 1 << 11
	IgnoreSigpipe    Capability = 1 << 12
	Transactions     Capability = 1 << 13
	Reserved         Capability = 1 << 14
	SecureConnection Capability = 1 << 15
	MultiStatements  Capability = 1 << 16
	MultiResults     Capability = 1 << 17
	PSMultiResults   Capability = 1 << 18
	PluginAuth       Capability = 1 << 19
	ConnectAttrs     Capability = 1 << 20
	PluginAuthLenenc Capability = 1 << 21
	ExpiredPasswords Capability = 1 << 22
	SessionTrack     Capability = 1 << 23 // spoken with the backend, not offered to clients
	DeprecateEOF     Capability = 1 << 24 // offered to clients, not spoken with the backend: see proxy/DESIGN.md
	OptionalMetadata Capability = 1 << 25
	ZstdCompression  Capability = 1 << 26
	QueryAttributes  Capability = 1 << 27
	MultiFactorAuth  Capability = 1 << 28
	CapabilityExt    Capability = 1 << 29
	VerifyServerCert Capability = 1 << 30
	RememberOptions  Capability = 1 << 31
	needed           Capability = Protocol41 | SecureConnection
)

// Has reports whether all bits of want are set.
func (c Capability) Has(want Capability) bool { return c&want == want }
