package main

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	_ "net/http/pprof" // on the default mux: the idle measurement collects garbage through it
	"os"
)

// gocopyCommand is the hidden subcommand: the relay runs as a process of its own, so that its CPU and memory are its own.
const gocopyCommand = "gocopy"

// runGocopy relays to args[0] and announces its addresses as conntag's log does.
func runGocopy(args []string) error {
	if len(args) != 1 {
		return errors.New("gocopy: want one argument, the backend's host:port")
	}
	clients, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	admin, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(admin, nil) }()
	slog.New(slog.NewJSONHandler(os.Stderr, nil)).Info("gocopy serves", "clients", clients.Addr().String(), "admin", admin.Addr().String())
	return gocopy(clients, args[0])
}

func gocopy(l net.Listener, backend string) error {
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		go gocopyConn(client, backend)
	}
}

// gocopyConn dials from the client's own address: where clients come from several, no port range runs short.
func gocopyConn(client net.Conn, addr string) {
	defer func() { _ = client.Close() }()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: client.RemoteAddr().(*net.TCPAddr).IP}}
	backend, err := d.Dial("tcp", addr)
	if err != nil {
		slog.Error("gocopy", "error", err)
		return
	}
	go gocopyBytes(backend, client)
	gocopyBytes(client, backend)
}

// gocopyBytes hides ReadFrom and WriteTo, which would splice in the kernel.
func gocopyBytes(dst, src net.Conn) {
	_, _ = io.CopyBuffer(struct{ io.Writer }{dst}, struct{ io.Reader }{src}, make([]byte, 16<<10))
	_ = dst.Close()
}
