package proxy

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestSilentClientsAreAskedAndFoundDeadAfterTwiceKeepalive(t *testing.T) {
	for after, want := range map[time.Duration][4]int{
		0:                {0, 0, 0, 0},
		30 * time.Second: {1, 30, 10, 3},
		minKeepalive:     {1, 3, 1, 3},
	} {
		lc := listenConfig(after)
		l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		got := [4]int{}
		err = raw.Control(func(fd uintptr) {
			got[0], _ = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_KEEPALIVE)
			for i, option := range []int{unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT} {
				if got[0] != 0 {
					got[1+i], _ = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, option)
				}
			}
		})
		if err != nil || got != want {
			t.Errorf("%s: on, idle, interval and count are %v, %v; want %v", after, got, err, want)
		}
		_, _, _ = client.Close(), conn.Close(), l.Close()
	}
}
