package history

import (
	"errors"
	"fmt"
	"time"

	"github.com/gocurator/curator/framework/zktest/txnlog"
)

// ErrNoLock says that no contender was at or below a path in the time that was asked for.
var ErrNoLock = errors.New("no lock")

// Read builds a history from the files of one server, or of several servers of one ensemble: see txnlog.Open. If last
// is positive, it begins that long before the newest transaction. Options.Begin is not used. Errors are those of
// txnlog.Open, and ErrNoLock.
func Read(root string, dirs []string, last time.Duration, o Options) (*History, error) {
	log, err := txnlog.Open(root, dirs...)
	if err != nil {
		return nil, err
	}
	if last > 0 {
		o.From = log.Last.At.Add(-last)
	}
	o.Begin = log.First
	h := Of(root, log.Transactions(), o)
	h.From, h.To, h.Notes, h.MoreNotes, h.Incomplete = log.First, log.Last, log.Notes, log.MoreNotes, log.Incomplete
	if len(h.Locks) == 0 {
		return h, fmt.Errorf("%w at or below %s in these logs, which go from %s to %s", ErrNoLock, root,
			log.First.At.Format(time.RFC3339), log.Last.At.Format(time.RFC3339))
	}
	return h, nil
}
