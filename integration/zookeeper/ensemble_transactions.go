//go:build unix

package zookeeper

import (
	"path/filepath"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// Transactions reads from the logs of the servers that vote what the ensemble has executed.
func (e *Ensemble) Transactions() ([]zktest.Transaction, error) {
	var dirs []string
	for _, m := range e.members {
		if !m.observer {
			dirs = append(dirs, filepath.Join(m.dataDir, "version-2"))
		}
	}
	return txnlog.ReadEnsemble(dirs...)
}
