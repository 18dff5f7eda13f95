package nodes

import (
	"bytes"

	"github.com/gocurator/curator/framework"
)

// An action is what is to be done about the node.
type action int

const (
	wait    action = iota // for the next view
	create                // there is no node
	replace               // delete it and create another, in one transaction
	adopt                 // keep the one that is there
	write                 // the node has other data
	keep                  // it is as it should be
)

// A sight is what a watch shows of the node, and what is known of it otherwise.
type sight struct {
	view      framework.View
	former    bool   // it belongs to a session that this client had before
	made      int64  // the zxid that created the node, for modes that outlive sessions; 0 if it is not known
	unknown   []byte // the data of a create whose outcome is not known, for those modes; nil for none
	confirmed bool   // the node was seen with the data, or they were written
	pending   bool   // there are newer data to be written
}

// decide is the rule whose node it is, and what follows.
//
// An ephemeral node is this client's if it belongs to one of its sessions. The present session's is kept; one of a
// session that is over would go at the servers' expiry, and is replaced. All others are strangers'.
//
// A node that outlives sessions names no owner. It is this client's if it is the one that was created here, by its
// zxid. The answer to the create may be lost: then it is one that was not there before, is not changed since, and has
// the same data.
func decide(s sight, data []byte, o *options) action {
	switch {
	case s.view.Status == framework.StatusGone:
		return create
	case !s.view.Current: // what it has become is on its way: after a write, the view has the data before
		return wait
	}
	stat := s.view.Stat
	mine, successor := s.view.Own, replace
	if !o.ephemeral() {
		mine = stat.EphemeralOwner == 0 && isMade(s.view, s.made, s.unknown)
		if stat.EphemeralOwner == 0 {
			successor = adopt
		}
	}
	switch {
	case !mine && (s.former || o.overwriting):
		return successor
	case !mine:
		return wait
	case (s.pending || !s.confirmed) && !same(s.view, data):
		return write
	default:
		return keep
	}
}

// isMade reports whether a node that outlives sessions was created here.
func isMade(view framework.View, made int64, unknown []byte) bool {
	return made != 0 && view.Stat.Czxid == made || unknown != nil && view.Stat.Version == 0 && same(view, unknown)
}

// same reports whether the node has the data. Of a node that may not be read that is not known.
func same(view framework.View, data []byte) bool {
	return len(view.Data) == int(view.Stat.DataLength) && bytes.Equal(view.Data, data)
}
