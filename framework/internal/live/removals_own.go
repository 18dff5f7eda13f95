package live

import (
	"errors"
	"maps"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// removeOwn removes a node at a path that others use as well. If the answer to the delete is lost, a second delete
// might remove a successor's node. So each request follows a look: the node is deleted if it belongs to this session,
// and has the version that the look has shown.
//
// On a new connection the look comes behind a fence. Otherwise a server that is behind might show the deleted node, and
// the next delete would hit the successor's, or not show the node yet, and the removal would end too early. The latter
// can happen on an old connection if the answer to a create was lost, so fenced is set.
//
// ZooKeeper cannot make a delete conditional on the owner: see session.Nodes' RemoveAt.
func (all *removals) removeOwn(path string, fenced bool) *removal {
	return all.begin(path, removal{own: true, fenced: fenced})
}

// looks makes the looks of removals, whose answers send the deletes.
func (all *removals) looks(fenced bool, own map[string]*removal) []*transport.Call {
	var behind error
	var calls []*transport.Call
	for _, path := range slices.Sorted(maps.Keys(own)) {
		calls = append(calls, all.look(path, own[path], &behind))
	}
	if !fenced || len(calls) == 0 {
		return calls
	}
	return all.behindFence(&behind, calls...)
}

func (all *removals) look(path string, r *removal, behind *error) *transport.Call {
	return transport.Exists(path, false, func(stat *zk.Stat, err error) {
		switch {
		case all.unanswered(*behind) || all.unanswered(err): // asked again on the next connection
		case err == nil && stat.EphemeralOwner == all.sessionID():
			all.sendOwn(path, r, all.deleteOwn(path, r, stat.Version))
		case errors.Is(err, zk.ErrNoNode):
			all.watching.observers.gone(path)
			all.answered(path, r, nil)
		default: // another session's, or a refusal
			all.answered(path, r, err)
		}
	})
}

func (all *removals) deleteOwn(path string, r *removal, version int32) *transport.Call {
	return transport.Delete(path, version, func(err error) {
		switch {
		case all.unanswered(err):
		case errors.Is(err, zk.ErrBadVersion):
			all.sendOwn(path, r, all.look(path, r, new(error)))
		case err == nil || errors.Is(err, zk.ErrNoNode):
			all.watching.observers.gone(path)
			all.answered(path, r, nil)
		default:
			all.answered(path, r, err)
		}
	})
}

// sendOwn goes on with a removal. If the connection was lost meanwhile, the next one begins with a look.
func (all *removals) sendOwn(path string, r *removal, call *transport.Call) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.pending[path] == r {
		all.sendLocked(call)
	}
}
