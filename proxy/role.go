package proxy

// roles are a backend connection's: COM_RESET_CONNECTION leaves the current role as it is.
type roles struct {
	now   string // as SET ROLE takes it; empty: the login's
	login string // the login's, once somebody has asked; empty: not known
}

// wanted is what SET ROLE must be told for a session with the given role.
func (r *roles) wanted(role string) string {
	if role == "" {
		return r.login
	}
	return role
}

// currentRole is the connection's role as SET ROLE takes it.
func (b *backendConn) currentRole() (string, error) {
	value, err := b.query(internalTimeout, queryCommand(currentRole))
	return roleName(value), err
}

const currentRole = "SELECT CURRENT_ROLE() LIMIT 1"

// roleName turns what CURRENT_ROLE() says into what SET ROLE takes.
func roleName(value string) string {
	if value == "" || value == "NONE" { // MySQL says NONE
		return "NONE"
	}
	return quoteName(value)
}
