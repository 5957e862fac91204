package mariadbtest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// asParent makes this test binary a process that starts a server and waits to be killed.
const asParent = "CONNTAG_MARIADBTEST_PARENT"

func TestMain(m *testing.M) {
	if os.Getenv(asParent) != "" {
		i, err := Start()
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(i.Addr(), i.home.path)
		select {}
	}
	os.Exit(m.Run())
}

func TestServerDiesWithItsParentAndTheNextStartSweepsItsDirectory(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatalf("dial the server of %q: %v", line, err)
	}
	defer func() { _ = conn.Close() }()

	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // "signal: killed"
	if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
		t.Error("the server outlived its parent by 10 s")
	}
	Run(t)
	if exists(dir) {
		t.Errorf("directory %s was not swept", dir)
	}
}

func isTimeout(err error) bool {
	ne, ok := err.(net.Error)
	return ok && ne.Timeout()
}
