package history

import (
	"errors"
	"fmt"
	"iter"
	"path"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

// ErrNoLock says that no contender was at or below a path in the time that was asked for.
var ErrNoLock = errors.New("no lock")

// Read builds a history from the files of one server, or of several servers of one ensemble: see txnlog.Open. A path of
// a contender, or of the gate or the leases of a semaphore, is taken for that of its lock: a part of a queue says
// nothing. Then the files are read again. If last is positive, the history begins that long before the newest
// transaction. Options.Begin is not used. Errors are those of txnlog.Open, and ErrNoLock.
func Read(root string, dirs []string, last time.Duration, o Options) (*History, error) {
	h, err := read(root, dirs, last, o, everything)
	for err == nil {
		at, ok := h.partOf()
		if !ok {
			return h, nil
		}
		whole, err := read(at, dirs, last, o, ofLock(at))
		if err != nil || path.Base(h.Path) == gateDirectory && !whole.isSemaphore() {
			return h, err // a lock that is called as a gate
		}
		h = whole
	}
	return h, err
}

// ReadLock is Read of one lock at a path, without those below it.
func ReadLock(at string, dirs []string, last time.Duration, o Options) (*History, error) {
	return read(at, dirs, last, o, ofLock(at))
}

// partOf is the path of the lock of which a history has a part alone, and of a gate that of what may be its semaphore.
func (h *History) partOf() (at string, ok bool) {
	for _, l := range h.Locks {
		if l.Path != h.Path && !strings.HasPrefix(l.Path, strings.TrimSuffix(h.Path, "/")+"/") {
			return l.Path, true
		}
		if l.Path == h.Path && path.Base(h.Path) == gateDirectory {
			return path.Dir(h.Path), true
		}
	}
	return "", false
}

func (h *History) isSemaphore() bool {
	for _, l := range h.Locks {
		if l.Path == h.Path && strings.Contains(l.Kind, survey.Describe(survey.Lease)) {
			return true
		}
	}
	return false
}

// everything passes all transactions on.
func everything(all iter.Seq[zktest.Transaction]) iter.Seq[zktest.Transaction] { return all }

// ofLock passes on what changes the nodes of one lock, without those below it.
func ofLock(at string) func(iter.Seq[zktest.Transaction]) iter.Seq[zktest.Transaction] {
	gate, leases := path.Join(at, gateDirectory), path.Join(at, leaseDirectory)
	isOf := func(c zktest.Change) bool {
		dir := path.Dir(c.Path)
		return dir == at || dir == gate || dir == leases
	}
	return func(all iter.Seq[zktest.Transaction]) iter.Seq[zktest.Transaction] {
		return func(yield func(zktest.Transaction) bool) {
			for t := range all {
				var changes []zktest.Change
				for _, c := range t.Changes {
					if isOf(c) {
						changes = append(changes, c)
					}
				}
				if t.Changes = changes; len(changes) > 0 && !yield(t) {
					return
				}
			}
		}
	}
}

// read builds a history of the transactions at and below a path that only passes on.
func read(root string, dirs []string, last time.Duration, o Options, only func(iter.Seq[zktest.Transaction]) iter.Seq[zktest.Transaction],
) (*History, error) {
	log, err := txnlog.Open(root, dirs...)
	if err != nil {
		return nil, err
	}
	if last > 0 {
		o.From = log.Last.At.Add(-last)
	}
	o.Begin = log.First
	h := Of(root, only(log.Transactions()), o)
	h.From, h.To, h.Notes, h.MoreNotes, h.Incomplete = log.First, log.Last, log.Notes, log.MoreNotes, log.Incomplete
	switch {
	case len(h.Locks) > 0:
		return h, nil
	case log.Last == (txnlog.Moment{}):
		return h, fmt.Errorf("%w at or below %s in these logs, which have no transaction", ErrNoLock, root)
	default:
		return h, fmt.Errorf("%w at or below %s in these logs, which go from %s to %s", ErrNoLock, root,
			log.First.At.Format(time.RFC3339), log.Last.At.Format(time.RFC3339))
	}
}
