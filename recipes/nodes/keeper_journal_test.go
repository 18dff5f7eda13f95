package nodes_test

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// Who has created a node.
const (
	nothing = iota
	ours
	strangers
)

// A judge follows the servers' transactions on the node, and knows which of them break a rule:
//
//   - none of this client's deletes or writes the stranger's node, but to overwrite it;
//   - none deletes a stranger's node that outlives sessions unless this client has written to it, or kept one, or
//     replaces it: a Start that fails does none of these;
//   - while the node is kept, none of this client's leaves no node where it had one.
type judge struct {
	stranger    int64 // session
	overwriting bool
	stop        func()

	mu      sync.Mutex
	created int // by whom the present node was created, or adopted
	since   time.Time
	kept    bool
	lasting bool // the stranger's node that is there was created while none was kept, outlives sessions, and is to stay
	wrong   []string
}

func newJudge(server *zktest.Server, stranger int64) *judge {
	j := &judge{stranger: stranger}
	j.stop = server.ObserveTransactions(j.see)
	return j
}

func (j *judge) see(transaction zktest.Transaction) {
	j.mu.Lock()
	defer j.mu.Unlock()
	before := j.created
	byUs := transaction.Session != 0 && transaction.Session != j.stranger && !transaction.EndsSession
	for _, c := range transaction.Changes {
		if c.Path != path {
			continue
		}
		if byUs && j.created == strangers && !j.overwriting {
			j.wrong = append(j.wrong, fmt.Sprintf("got the stranger's node %v by session %#x, want it spared", c.Kind, transaction.Session))
		}
		if byUs && j.lasting && c.Kind == zktest.Deleted && !creates(transaction) {
			j.wrong = append(j.wrong, fmt.Sprintf("got the stranger's node deleted by session %#x, which has never written to it", transaction.Session))
		}
		if c.Kind != zktest.DataSet || byUs {
			j.lasting = c.Kind == zktest.Created && transaction.Session == j.stranger && c.Owner == 0 && !j.kept
		}
		switch {
		case c.Kind == zktest.Deleted:
			j.created, j.since = nothing, time.Now()
		case byUs: // created; or adopted by new data, when overwriting
			j.created = ours
		case c.Kind == zktest.Created:
			j.created = strangers
		}
	}
	if byUs && j.kept && before == ours && j.created == nothing {
		j.wrong = append(j.wrong, fmt.Sprintf("got no node after a transaction of session %#x, want one all the time", transaction.Session))
	}
}

func creates(transaction zktest.Transaction) bool {
	return slices.ContainsFunc(transaction.Changes, func(c zktest.Change) bool { return c.Path == path && c.Kind == zktest.Created })
}

func (j *judge) keep(kept bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.kept = kept
	j.lasting = j.lasting && !kept
}

func (j *judge) creator() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.created
}

// freeFor reports whether there has been no node for so long.
func (j *judge) freeFor(d time.Duration) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.created == nothing && time.Since(j.since) >= d
}

func (j *judge) broken() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.wrong
}

// strange makes or deletes a stranger's node. It comes to a path that has been free for some time: between a look and
// the delete that follows it no request can tell a stranger's node.
func (h *history) strange() {
	if h.judge.creator() == strangers {
		wantErr(h.t, h.stranger.Delete(h.t.Context(), path, -1))
		return
	}
	if !h.judge.freeFor(100 * time.Millisecond) {
		return
	}
	mode := []framework.CreateMode{framework.Ephemeral, framework.Persistent}[h.rand.IntN(2)]
	_, _, err := h.stranger.Create(h.t.Context(), path, []byte(h.data), framework.WithMode(mode)) // the same data
	h.did("stranger, mode %v: %v", mode, err)
}
