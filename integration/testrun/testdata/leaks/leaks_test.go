// Package leaks has a test that waits too long once, as package planted, in a binary that finds something else at its
// end.
package leaks

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

func TestMain(m *testing.M) {
	status := m.Run()
	fmt.Println("leak: 3 goroutines are left")
	os.Exit(status)
}

func TestWaitsTooLongInABinaryThatLeaks(t *testing.T) {
	if os.Getenv("PLANTED") != t.Name() {
		t.Skip("PLANTED is not this test")
	}
	await.Until(t, 10*time.Millisecond, "what never comes", func() bool { return false })
}
