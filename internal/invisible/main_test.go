package invisible

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// stage is shared by the tests of this package: each case starts on fresh data.
var stage *Stage

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	var err error
	if stage, err = Raise(Conntag); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := stage.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	// Every goroutine is awaited by what started it, so none may be left.
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
