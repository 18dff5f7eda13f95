//go:build linux

package causes_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
)

var times = flag.Int("times", 2, "how many losses of each cause are judged")

const (
	sessionTimeout = 3 * time.Second
	// patience bounds everything that must happen at some time.
	patience = 3 * time.Minute
)

func TestMain(m *testing.M) {
	if os.Getenv(drivers.Env) != "" {
		if err := godriver.Run(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// upTo is a random time.
func upTo(d time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(d) + 1)) }
