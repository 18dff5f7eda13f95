package history

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// sort puts contenders to their locks.
func (b *builder) sort(kept []*contender) (locks []Lock) {
	byPath := map[string][]*contender{}
	for _, one := range kept {
		p := b.lockOf(one.line)
		byPath[p] = append(byPath[p], one)
	}
	for p, list := range byPath {
		lock := Lock{Path: p}
		slices.SortFunc(list, func(a, b *contender) int {
			return cmp.Or(cmp.Compare(a.Queued.Zxid, b.Queued.Zxid), cmp.Compare(a.Czxid, b.Czxid), strings.Compare(a.Path, b.Path))
		})
		var kinds []survey.Kind
		if l := b.lines[lineKey{path.Join(p, leaseDirectory), Leases}]; l != nil {
			kinds, lock.Limit = append(kinds, survey.Lease), cmp.Or(b.o.Limit, l.most)
		}
		for _, one := range list {
			if one.line.family == Exclusion && one.line.dir != p {
				one.neverLeased()
			}
			one.settle(lock.Limit, b.o.Limit > 0)
			if one.line.dir == p {
				kinds = append(kinds, one.Kind)
			}
			lock.Contenders = append(lock.Contenders, one.Contender)
		}
		lock.Kind = survey.Describe(kinds...)
		mixed := b.mixed[p]
		if l := b.lines[lineKey{p, Exclusion}]; l != nil {
			mixed |= l.mixed
		}
		lock.MayOverlap = mixed.texts()
		locks = append(locks, lock)
	}
	slices.SortFunc(locks, func(a, b Lock) int { return strings.Compare(a.Path, b.Path) })
	return locks
}

// lockOf is the path of the lock that a line belongs to. A directory "locks" is a semaphore's gate if there are leases
// beside it; a lock can also be called so.
func (b *builder) lockOf(l *line) string {
	parent, name := path.Split(l.dir)
	switch {
	case l.family == Leases && name == leaseDirectory:
		return path.Clean(parent)
	case l.family == Exclusion && name == gateDirectory && b.lines[lineKey{parent + leaseDirectory, Leases}] != nil:
		return path.Clean(parent)
	default:
		return l.dir
	}
}
