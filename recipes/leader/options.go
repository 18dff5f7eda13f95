package leader

import (
	"github.com/gocurator/curator/recipes/internal/setup"
	"github.com/gocurator/curator/recipes/locks"
)

// An Option sets up an election. The first call on the election reports what is wrong with it.
type Option func(*options)

type options struct {
	id       string
	trace    locks.Trace
	problems setup.Problems
}

func newOptions(opts []Option) *options {
	o := &options{}
	setup.Apply(&o.problems, o, opts)
	return o
}

// revokeMessage in a node asks its owner to leave, see [locks.AttemptRevoke].
const revokeMessage = "__REVOKE__"

// WithID sets the id that stands in the participant's node, for [Participant.ID]. An empty id is no id. Without one,
// the node of a [LeaderSelector] has the client's default data, an address of its machine, as in Java.
//
// Curator: LeaderSelector.setId().
func WithID(id string) Option {
	return func(o *options) {
		o.problems.Refuse(id == revokeMessage, "the id %q would ask the leader to leave", id)
		o.id = id
	}
}

// WithTrace reports the events of campaigns and terms to trace. Its Lost reports a term that was lost.
func WithTrace(trace locks.Trace) Option { return func(o *options) { o.trace = trace } }
