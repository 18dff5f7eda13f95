//go:build unix

package zookeeper

import (
	"path/filepath"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// A Removal is the removal of a node.
type Removal struct {
	// At is the time of day, rounded down to a millisecond, at which the server took up what removed the node: before
	// it wrote that down, and before any client could learn of it.
	At time.Time
	// By is the session that asked for it, or that has ended. Owner is the one that the node belonged to, 0 if none.
	By, Owner int64
}

// Removals reads from the server's logs what it has removed, by path. Of a path that was removed more than once it is
// the last removal.
func (s *Server) Removals() (map[string]Removal, error) {
	all, err := s.Transactions()
	if err != nil {
		return nil, err
	}
	removed := map[string]Removal{}
	for _, t := range all {
		for _, c := range t.Changes {
			if c.Kind == zktest.Deleted {
				removed[c.Path] = Removal{At: t.At, By: t.Session, Owner: c.Owner}
			}
		}
	}
	return removed, nil
}

// Transactions reads from the server's logs what it has executed.
func (s *Server) Transactions() ([]zktest.Transaction, error) {
	return txnlog.Read(filepath.Join(s.dataDir, "version-2"))
}
