package nodes

import (
	"bytes"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
)

// An action is what is to be done about the node.
type action int

const (
	wait    action = iota // for the next view
	create                // there is no node
	replace               // delete it and create another, in one transaction
	write                 // the node has other data
	keep                  // it is as it should be
)

// A sight is what a watch shows of the node, and what is known of it otherwise.
type sight struct {
	view    framework.View
	former  bool // it belongs to a session that the registry knows
	pending bool // the node was not seen yet, or newer data are to be written
	late    bool // a server may still execute an earlier write at this version: another write keeps it from that
}

// decide is the rule whose node it is, and what follows.
//
// An ephemeral node is this client's if it belongs to a session that the registry knows. The present session's is kept;
// one of a session that is over would go at the servers' expiry, and is replaced. All others are strangers'.
//
// A node that outlives sessions names no owner: whichever is at the path is kept as this client's. A claim decides
// whether it is removed at the end.
func decide(s sight, data []byte, o *options) action {
	switch {
	case s.view.Status == framework.StatusGone:
		return create
	case !s.view.Current: // what it has become is on its way: after a write, the view has the data before
		return wait
	}
	mine := o.isMine(s.view.Stat, s.view.Own)
	switch {
	case !mine && (s.former || o.overwriting):
		return replace
	case !mine:
		return wait
	case s.pending && (s.late || !same(s.view, data)):
		return write
	default:
		return keep
	}
}

// isMine reports whether a node is this client's; own says that it belongs to the present session.
func (o *options) isMine(stat *zk.Stat, own bool) bool {
	if o.ephemeral() {
		return own
	}
	return stat.EphemeralOwner == 0
}

// same reports whether the node has the data. Of a node that may not be read that is not known.
func same(view framework.View, data []byte) bool {
	return len(view.Data) == int(view.Stat.DataLength) && bytes.Equal(view.Data, data)
}
