package proxy

import (
	"io"
	"net"

	"github.com/conntag/conntag/proxy/wire"
)

// readFirst reads a client's first packet, behind a PROXY header if a load balancer sent one. The greeting is out
// already: MySQL clients wait for it, balancers don't, and where no header comes the packet is a client's own login. So
// both work from a listed network, as with MariaDB's proxy_protocol_networks.
func (s *Session) readFirst(c *wire.Conn) ([]byte, error) {
	peer, ok := s.client.RemoteAddr().(*net.TCPAddr)
	if !ok || !s.srv.balancers.contain(peer.AddrPort().Addr()) {
		return c.ReadPacket(maxLoginPacket)
	}
	var first [wire.HeaderLen]byte
	if _, err := io.ReadFull(c.Conn, first[:]); err != nil {
		return nil, err
	}
	if !wire.BeginsProxyHeader(first[:]) {
		own := c.Conn
		c.Conn = &readAhead{own, first[:]}
		defer func() { c.Conn = own }()
		return c.ReadPacket(maxLoginPacket)
	}
	from, err := wire.ReadProxyHeader(first[:], c.Conn)
	if err != nil {
		return nil, err
	}
	if from.IsValid() {
		s.client.source.Store(net.TCPAddrFromAddrPort(from))
	}
	return c.ReadPacket(maxLoginPacket)
}

// RemoteAddr is where the client is: behind a load balancer, where that says.
func (c *clientConn) RemoteAddr() net.Addr {
	if a := c.source.Load(); a != nil {
		return a
	}
	return c.Conn.RemoteAddr()
}

// readAhead is a connection from which some bytes were read too early.
type readAhead struct {
	net.Conn
	head []byte
}

func (r *readAhead) Read(p []byte) (int, error) {
	if len(r.head) == 0 {
		return r.Conn.Read(p)
	}
	n := copy(p, r.head)
	r.head = r.head[n:]
	return n, nil
}
