package pool_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Some disagreements with the model need eight steps in the right order, which 100 runs may miss. A value on the
	// command line still wins, as flags are parsed in m.Run.
	if err := flag.Set("rapid.checks", "500"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}
