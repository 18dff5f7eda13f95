//go:build linux

package godriver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path"
	"strconv"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

// A Write is what a holder sets a node of a store to, in the name of its lease.
type Write struct {
	Who   string `json:"who"`
	Hold  int    `json:"hold"` // a number that Who counts
	Path  string `json:"path"` // the lease's node
	Token int64  `json:"token"`
	Count int64  `json:"count"` // FencingCount
	Began int64  `json:"began"`
}

// The nodes of a store, by what has to be true for a write. A write to one of the first two is a transaction with a
// check that the lease's node is there.
const (
	Begin = "begin" // the first write of a hold
	End   = "end"   // the last one
	Token = "token" // the fencing token is not less than that of the write before
	Plain = "plain" // nothing
)

// Refused is the Error of a write that the store has refused.
const Refused = "refused"

var errRefused = errors.New(Refused)

// A holder has a lease, or nil.
type holder interface{ held() *locks.Lease }

func (u *lockUser) held() *locks.Lease {
	if len(u.leases) == 0 {
		return nil
	}
	return u.leases[len(u.leases)-1]
}

func (p *permits) held() *locks.Lease {
	if len(p.batches) == 0 {
		return nil
	}
	return p.batches[len(p.batches)-1][0]
}

func (e *election) held() *locks.Lease { return e.term }

// write writes to nodes of the store, each time if the lease is valid. The time of an event is from before that look,
// so no event of a lost lease is later than its end.
func (w *worker) write(ctx context.Context, order Order, nodes ...string) {
	h, ok := w.lock.(holder)
	if !ok || order.Store == "" {
		return
	}
	lease := h.held()
	_, several := w.lock.(*permits)
	several = several || order.Side == "read"
	for _, node := range nodes {
		began := Now()
		switch {
		case lease == nil || lease.Err() != nil:
			return
		case several && (node == Token || node == Plain): // any of them may be the last to write
			continue
		}
		err := w.set(lease.Context(ctx), lease, path.Join(order.Store, node), began)
		a := &Answer{
			Event: "wrote", Who: w.who, OK: err == nil, Began: began, Ended: Now(),
			Valid: monotonic(lease.ValidUntil()), IDs: []string{node},
		}
		if err != nil {
			a.Error = err.Error()
		}
		w.driver.mouth.say(a)
	}
}

func (w *worker) set(ctx context.Context, lease *locks.Lease, node string, began int64) error {
	dir := lease.Path()
	if _, ok := w.lock.(*permits); ok {
		dir = path.Join(dir, "leases")
	}
	mine := Write{
		Who: w.who, Hold: w.holds, Path: path.Join(dir, lease.NodeName()), Token: lease.FencingToken(),
		Count: lease.FencingCount(), Began: began,
	}
	data, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	switch path.Base(node) {
	case Begin, End:
		_, err = w.client.Transaction(ctx, w.check(lease, mine), framework.SetOp(node, data, -1))
		if errors.Is(err, zk.ErrNoNode) {
			return errRefused
		}
	case Token:
		return w.setNewer(ctx, node, mine, data)
	default:
		_, err = w.client.Set(ctx, node, data, -1)
	}
	return err
}

// check is the lease's check. That of a retained lock gives up the node, so most of its holds only look whether the
// node is there, which proves the hold as well.
func (w *worker) check(lease *locks.Lease, mine Write) framework.Op {
	const oneIn = 5
	if w.recipe == "retained" && w.holds%oneIn != 0 {
		return framework.CheckOp(mine.Path, -1)
	}
	return lease.Check()
}

// setNewer is a store that refuses older tokens.
func (w *worker) setNewer(ctx context.Context, node string, mine Write, data []byte) error {
	old, stat, err := w.client.Get(ctx, node)
	if err != nil {
		return err
	}
	var last Write
	if len(old) > 0 {
		if err := json.Unmarshal(old, &last); err != nil {
			return errors.New("the store has " + strconv.Quote(string(old)))
		}
	}
	if last.Token > mine.Token || last.Token == mine.Token && last.Count > mine.Count {
		return errRefused
	}
	_, err = w.client.Set(ctx, node, data, stat.Version)
	if !errors.Is(err, zk.ErrBadVersion) {
		return err
	}
	// It may be this write, whose answer was lost.
	if now, _, err := w.client.Get(ctx, node); err != nil || bytes.Equal(now, data) {
		return err
	}
	return errRefused
}
