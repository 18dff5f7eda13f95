//go:build unix

package examples_test

import (
	"path/filepath"
	"testing"

	"github.com/gocurator/curator/integration/zookeeper"
)

func TestProgramsEndWellOnRealZooKeeper(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	bin := build(t)
	t.Run("together", func(t *testing.T) { // ends before the server does
		for _, name := range examples {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				args := append([]string{"-zk", server.Addr()}, patient...)
				end(t, filepath.Join(bin, filepath.Base(name)), args...)
			})
		}
	})
}
