//go:build unix

package zookeeper

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/gocurator/curator/framework/zktest/txnlog"
)

// Transactions reads from the logs of the servers that vote what the ensemble has executed: what most of them have
// logged. The log of one server may have more, which a leader that was deposed has never executed. And it may have
// less, since a server that comes back far behind gets a snapshot.
func (e *Ensemble) Transactions() ([]txnlog.Transaction, error) {
	var executed []txnlog.Transaction
	logged := map[int64]int{} // by zxid: in how many logs
	for _, m := range e.members {
		if m.observer {
			continue
		}
		all, err := m.Transactions()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("server %d: %w", m.id, err)
		}
		for _, t := range all {
			logged[t.Zxid]++
			if logged[t.Zxid] == e.config.Servers/2+1 {
				executed = append(executed, t)
			}
		}
	}
	slices.SortFunc(executed, func(a, b txnlog.Transaction) int { return cmp.Compare(a.Zxid, b.Zxid) })
	return executed, nil
}
