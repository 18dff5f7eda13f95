package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
)

// Downgrade makes a reader's grant for the holder of a writer's grant w, who stays a member of w for the call. The
// reader's node gets the writer's number, so it stands before every later writer. One transaction creates it if the
// writer's node exists, so no other writer gets in between, and no listing misses both nodes.
func (q *Queue) Downgrade(ctx context.Context, w *Grant) (*Grant, error) {
	w.Spend() // before the caller leaves w
	name, ok := ReaderName(w.Name, q.Config.Marker)
	if !ok {
		return nil, fmt.Errorf("node %s has no number", w.Name)
	}
	path, err := w.Session.CreateIfExists(ctx, w.Node, q.Config.Dir, name, q.Config.Data)
	if errors.Is(err, zk.ErrNoNode) {
		w.Lose(ErrRemoved)
		return nil, w.Err()
	}
	if err != nil {
		return nil, cmp.Or(w.Err(), err)
	}
	c := q.contender(w.Session, path, w.Fence)
	defer c.Leave()
	err = c.Admit()
	switch {
	case errors.Is(err, session.ErrNodeDeleted):
		err = c.queue.Config.Ended(w, ErrRemoved)
	case err == nil && c.Grant == nil:
		err = framework.ErrNotRenewed
	}
	if err != nil {
		return nil, cmp.Or(w.Err(), err)
	}
	// After a pause of the process the session may be valid again, although w was lost.
	if lost := w.Err(); lost != nil {
		c.Grant.Drop()
		return nil, lost
	}
	return c.Grant, nil
}

// ReaderName is the name, without its GUID, of the node with which a writer's holder goes on as a reader.
func ReaderName(writer, marker string) (name string, ok bool) {
	_, number, ok := cutNumber(writer)
	return fmt.Sprintf("%s%010d", marker, number), ok
}
