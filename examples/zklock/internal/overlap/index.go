package overlap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
)

const (
	// mostMissed is how many paths are noted of which there is no lock.
	mostMissed = 100
	// deepest is how many names from the end of a lock's path a record can have: a program that does not say its chroot
	// or namespace has only the end.
	deepest = 64
	// mostAlike is how many locks are looked at whose paths end alike, or that have nodes of one name.
	mostAlike = 100
)

// An index finds the lock of a record.
type index struct {
	h      *history.History
	byPath map[string][]int        // by the whole paths of locks, and by the ends of them
	byNode map[string][]nodeOfLock // by name: those without protection are the same in many locks
	lost   map[string]int          // records at and below the history's path without a lock
	others int                     // those beyond mostMissed
}

type nodeOfLock struct {
	lock  int
	token int64
}

func newIndex(h *history.History) *index {
	x := &index{h: h, byPath: map[string][]int{}, byNode: map[string][]nodeOfLock{}, lost: map[string]int{}}
	for i := range h.Locks {
		lock := &h.Locks[i]
		for end, n := lock.Path, 0; end != "" && n < deepest; n++ {
			x.byPath[end] = append(x.byPath[end], i)
			if next := strings.IndexByte(end[1:], '/'); next >= 0 {
				end = end[1+next:]
			} else {
				end = ""
			}
		}
		for j := range lock.Contenders {
			c := &lock.Contenders[j]
			x.byNode[c.Node] = append(x.byNode[c.Node], nodeOfLock{i, c.Token})
		}
	}
	return x
}

// find returns the lock of a record. Its path decides, and its node if several locks have such a path: of these it is
// the one with that path wholly if none has the node. It is not known if several have it.
func (x *index) find(r *records.Record) (lock int, ok bool) {
	alike := x.byPath[r.Path]
	whole := slices.IndexFunc(alike, func(i int) bool { return x.h.Locks[i].Path == r.Path })
	if len(alike) == 1 {
		return alike[0], true
	}
	var with []int
	nodes := x.byNode[r.Node]
	for _, n := range nodes[:min(len(nodes), mostAlike)] {
		if (r.Czxid == 0 || n.token == 0 || r.Czxid == n.token) && belongs(r.Path, x.h.Locks[n.lock].Path) {
			with = append(with, n.lock)
		}
	}
	switch {
	case len(with) == 1:
		return with[0], true
	case whole >= 0:
		return alike[whole], true
	case len(with) == 0 && len(alike) > 0:
		return alike[0], true
	default:
		return 0, false
	}
}

// miss counts a record without a lock, if it may be of one at or below the history's path.
func (x *index) miss(recorded string) {
	if !mayBelong(recorded, x.h.Path) {
		return
	}
	if _, ok := x.lost[recorded]; ok || len(x.lost) < mostMissed {
		x.lost[strings.Clone(recorded)]++
	} else {
		x.others++
	}
}

func (x *index) missed() (notes []string) {
	for recorded, n := range x.lost {
		notes = append(notes, fmt.Sprintf("%s: %d records, and no lock of that path in the logs", recorded, n))
	}
	slices.Sort(notes)
	if x.others > 0 {
		notes = append(notes, fmt.Sprintf("%d records of more paths, and no locks of these in the logs", x.others))
	}
	return notes
}

// belongs reports whether a record is of a lock: its path is that of the servers, or the end of it.
func belongs(recorded, lock string) bool {
	return recorded == lock || recorded != "/" && strings.HasSuffix(lock, recorded)
}

// mayBelong reports whether a record may be of a lock at or below a path, of which it may have only the end. A record
// that would have nothing of the path may be of any lock, and is taken for one of elsewhere.
func mayBelong(recorded, root string) bool {
	if root == "/" {
		return true
	}
	for end := root; end != ""; {
		if recorded == end || strings.HasPrefix(recorded, end) && recorded[len(end)] == '/' {
			return true
		}
		next := strings.IndexByte(end[1:], '/')
		if next < 0 {
			break
		}
		end = end[1+next:]
	}
	return false
}
