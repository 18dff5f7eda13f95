// Package pages tests what the pages of the repository say: that their code runs, that the names, the tests and the links
// in them exist, and that each promise has its test.
package pages_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests in the directory examples, from which they name their pages.
func TestMain(m *testing.M) {
	if err := os.Chdir("../../examples"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
