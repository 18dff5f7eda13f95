// Package planted has tests that fail on purpose, each in its way, for the tests of testrun. A test does so only if
// PLANTED names it; PLANTED_DIR is where it notes that it ran.
//
//	PLANTED=TestBusyLoop PLANTED_DIR=$(mktemp -d) integration/run --no-lint ./integration/testrun/testdata/planted
package planted

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// planted skips a test that is not asked for, and reports whether it runs for the first time.
func planted(t *testing.T) (first bool) {
	t.Helper()
	if os.Getenv("PLANTED") != t.Name() {
		t.Skip("PLANTED is not this test")
	}
	f, err := os.OpenFile(filepath.Join(os.Getenv("PLANTED_DIR"), t.Name()), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	f.Close()
	return err == nil
}

func TestWaitsTooLongOnce(t *testing.T) {
	first := planted(t)
	await.Until(t, 10*time.Millisecond, "a second run", func() bool { return !first })
}

func TestWaitsTooLongAlways(t *testing.T) {
	planted(t)
	await.Until(t, 10*time.Millisecond, "what never comes", func() bool { return false })
}

func TestIsWrongOnce(t *testing.T) {
	if planted(t) {
		t.Error("got 1, want 2")
	}
}

func TestHangsAfterAFailure(t *testing.T) {
	planted(t)
	t.Cleanup(func() {
		for {
			time.Sleep(time.Hour)
		}
	})
	t.Fatal("got 1, want 2")
}

func TestBusyLoop(t *testing.T) {
	planted(t)
	zktest.Bubble(t, func(t *testing.T) {
		for n := 0; n >= 0; n = (n + 1) % 1000 {
			if t.Context().Err() != nil {
				return
			}
		}
	})
}
