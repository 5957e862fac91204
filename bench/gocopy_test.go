package main

import (
	"io"
	"net"
	"strings"
	"testing"
)

func TestGocopyPassesBytesAndTheEndOfBothSides(t *testing.T) {
	backend, front := listen(t), listen(t)
	go func() { _ = gocopy(front, backend.Addr().String()) }()
	go echoOnce(backend)

	client, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	want := strings.Repeat("conntag ", 10000)
	go func() { _, _ = io.WriteString(client, want) }()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil || string(got) != want {
		t.Fatalf("echo: %v, %d bytes differ: %t", err, len(got), string(got) != want)
	}
	if n, err := client.Read(got); n != 0 || err != io.EOF {
		t.Errorf("after the backend closed: read %d bytes, %v, want EOF", n, err)
	}
}

// echoOnce echoes what the test sends, 80,000 bytes, then closes.
func echoOnce(l net.Listener) {
	conn, err := l.Accept()
	if err != nil {
		return
	}
	_, _ = io.CopyN(conn, conn, 80000)
	_ = conn.Close()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}
