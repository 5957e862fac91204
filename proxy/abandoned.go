package proxy

import "time"

// abandonedAfter is how long a statement runs before anybody looks whether its client is still there. A client may send
// a statement and leave without waiting for the answer; most of those are done by then, as they would be without us.
const abandonedAfter = 300 * time.Millisecond

// killAgainAfter is when a statement that outlives its kill is killed again.
const killAgainAfter = time.Second

// abandonedStatement is a statement whose client is gone.
type abandonedStatement struct {
	session *Session
	moves   uint64 // of the session's view, when it was found
}

// killAbandoned ends statements that nobody waits for. Their sessions then get the server's word that they are over,
// find their clients gone and leave like any other, so that a connection is reused only if it is known to be clean.
// One after another: MariaDB takes milliseconds for a kill, but seconds for several at once of threads that sleep.
func (s *Server) killAbandoned(list []abandonedStatement) {
	k := killer{srv: s}
	defer k.close()
	for _, a := range list {
		s.killOne(&k, a)
	}
}

func (s *Server) killOne(k *killer, a abandonedStatement) {
	if a.session.view.moves.Load() != a.moves {
		return
	}
	if err := k.interrupt(a.session); err != nil {
		s.log.Warn("abandoned statement not killed", "session", a.session.id, "error", err)
		return
	}
	s.log.Info("abandoned statement killed", "session", a.session.id)
}

// abandon drops the lease in the middle of a reply, after the session's client left. The server would notice only when
// it next has enough of the result to send, which may be never.
func (s *Session) abandon() {
	if err := s.srv.interrupt(s); err != nil {
		s.log.Warn("abandoned statement not killed", "session", s.id, "error", err)
	}
	_ = s.lease.Conn().Close() // without COM_QUIT, which would be read as part of a file that the server asked for
	s.dropLease()
}
