package locks_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

// A permitProtocol is how a contender for one permit goes about it, each step one request.
type permitProtocol struct {
	leaseFirst bool // the lease's node is created in one transaction with that of the queue
	leaveEarly bool // the queue's node is deleted in the transaction that creates the lease's
	byOrder    bool // only the leases ahead of its own count
}

// asJava is InterProcessSemaphoreV2 in Curator, and here: what it creates counts at once, so it holds its place in the
// queue until the count of all leases lets it in.
var asJava = permitProtocol{}

// A permitWorld is a semaphore of one permit, with contenders who acquire it once.
type permitWorld struct {
	phase         [3]byte // 'i'dle, 'q'ueued, with a 'l'ease's node, 'h'olding, 'd'one
	queue, leases []int   // the contenders with a node there, in order
}

func (w permitWorld) clone() permitWorld {
	w.queue, w.leases = slices.Clone(w.queue), slices.Clone(w.leases)
	return w
}

func without(nodes []int, by int) []int {
	return slices.DeleteFunc(nodes, func(other int) bool { return other == by })
}

// isLetIn reports whether a contender finds few enough leases.
func (w permitWorld) isLetIn(by int, p permitProtocol) bool {
	return len(w.leases) == 1 || p.byOrder && w.leases[0] == by
}

// next takes the next step of a contender, if there is one.
func (w permitWorld) next(by int, p permitProtocol) (next permitWorld, ok bool) {
	first := len(w.queue) > 0 && w.queue[0] == by
	next = w.clone()
	switch phase := &next.phase[by]; {
	case *phase == 'i':
		*phase, next.queue = 'q', append(next.queue, by)
		if p.leaseFirst {
			next.leases = append(next.leases, by)
		}
	case *phase == 'q' && first:
		*phase = 'l'
		if !p.leaseFirst {
			next.leases = append(next.leases, by)
		}
		if p.leaveEarly {
			next.queue = without(next.queue, by)
		}
	case *phase == 'l' && w.isLetIn(by, p):
		*phase, next.queue = 'h', without(next.queue, by)
	case *phase == 'h':
		*phase, next.leases = 'd', without(next.leases, by)
	default:
		return w, false
	}
	return next, true
}

func explorePermits(protocols [3]permitProtocol) (explore.Result, error) {
	return explore.Model[permitWorld]{
		Start: permitWorld{phase: [3]byte{'i', 'i', 'i'}},
		Key: func(key []byte, w permitWorld) []byte {
			return fmt.Appendf(key, "%s %v %v", w.phase, w.queue, w.leases)
		},
		Steps: func(w permitWorld, step func(name string, next permitWorld)) {
			for by, p := range protocols {
				if next, ok := w.next(by, p); ok {
					step(fmt.Sprintf("%c to %c", 'A'+by, next.phase[by]), next)
				}
			}
		},
		Check: func(w permitWorld) error {
			if n := len(slices.DeleteFunc(slices.Collect(slices.Values(w.phase[:])), func(p byte) bool { return p != 'h' })); n > 1 {
				return fmt.Errorf("%d hold the permit", n)
			}
			return nil
		},
		IsEnd: func(w permitWorld) bool { return w.phase == [3]byte{'d', 'd', 'd'} },
	}.Explore()
}

// Contenders that count all leases, as Curator's do, deadlock beside two of the shorter protocols. Beside the third,
// everything ends: DESIGN.md says why it is not used.
func TestShorterProtocolsOfASemaphoreStarveJava(t *testing.T) {
	for name, test := range map[string]struct {
		ours permitProtocol
		want error
	}{
		"as Java's": {asJava, nil},
		"the lease's node comes with the queue's":                   {permitProtocol{leaseFirst: true, byOrder: true}, explore.ErrStuck},
		"the queue's node goes with the lease's creation":           {permitProtocol{leaveEarly: true}, explore.ErrStuck},
		"the same, and only leases ahead count: nothing is starved": {permitProtocol{leaveEarly: true, byOrder: true}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var found error
			for mix := range 8 { // a bit for each contender of ours
				protocols := [3]permitProtocol{asJava, asJava, asJava}
				for by := range protocols {
					if mix>>by&1 == 1 {
						protocols[by] = test.ours
					}
				}
				result, err := explorePermits(protocols)
				if !result.Complete && err == nil {
					t.Errorf("got %v, want all states", result)
				}
				if err != nil && found == nil {
					found = err
					t.Logf("%v: %v", protocols, err)
				}
			}
			if !errors.Is(found, test.want) || test.want == nil && found != nil {
				t.Errorf("got %v, want %v", found, test.want)
			}
		})
	}
}
