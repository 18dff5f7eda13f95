//go:build linux

package interop_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/integration/internal/drivers"
)

// earlierCommit is the version of this library, before the first release, with which today's shares locks. It is the
// oldest one whose users there may be.
const earlierCommit = "f762448"

// earlierMain runs the driver of that version.
const earlierMain = `package main

import (
	"os"

	"github.com/gocurator/curator/integration/interop/godriver"
)

func main() {
	if err := godriver.Run(os.Stdin, os.Stdout); err != nil {
		panic(err)
	}
}
`

// earlierDriver is the program, which is built once for all tests. TestMain removes it.
var earlierDriver struct {
	sync.Mutex
	dir string
}

// earlierCommand returns the command line of the Go driver of an earlier version.
func earlierCommand(t testing.TB) []string {
	t.Helper()
	drivers.Need(t, "Go driver", nil)
	earlierDriver.Lock()
	defer earlierDriver.Unlock()
	if earlierDriver.dir == "" {
		dir, err := os.MkdirTemp("", "curator-"+earlierCommit+"-") //nolint:usetesting // it outlasts the first test
		if err == nil {
			err = buildEarlier(t, dir)
		}
		if err != nil {
			_ = os.RemoveAll(dir)
		}
		drivers.Need(t, "earlier version", err)
		earlierDriver.dir = dir
	}
	return []string{filepath.Join(earlierDriver.dir, "driver")}
}

// buildEarlier takes from the repository what the driver needs, and builds it as it was.
func buildEarlier(t testing.TB, dir string) error {
	t.Helper()
	const root = "../.."
	if out, err := exec.Command("git", "-C", root, "cat-file", "-e", earlierCommit+"^{commit}").CombinedOutput(); err != nil {
		return fmt.Errorf("this clone has no commit %s; git fetch --unshallow gets it (%s)", earlierCommit, bytes.TrimSpace(out))
	}
	archive, program := filepath.Join(dir, "tree.tar"), filepath.Join(dir, "earlier")
	if err := os.Mkdir(program, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(program, "main.go"), []byte(earlierMain), 0o600); err != nil {
		return err
	}
	build := programs.GoBuild(t.Context(), "-trimpath", "-o", "driver", "./earlier") // go's cache heeds no path then
	build.Dir = dir
	for _, cmd := range []*exec.Cmd{
		exec.Command("git", "-C", root, "archive", "-o", archive, earlierCommit,
			"go.mod", "go.sum", "framework", "recipes", "retry", "integration/interop/godriver", "integration/internal"),
		exec.Command("tar", "-x", "-C", dir, "-f", archive),
		build,
	} {
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("build the driver of %s: %v: %w\n%s", earlierCommit, cmd.Args, err, out)
		}
	}
	return nil
}
