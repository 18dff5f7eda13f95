package nodes

import (
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/setup"
)

// An Option changes how a [PersistentNode] is kept. Options that are out of range, or contradict each other, are
// refused by Start.
type Option func(*options)

type options struct {
	mode        framework.CreateMode
	ttl         time.Duration
	overwriting bool
	problems    setup.Problems
}

func newOptions(opts []Option) options {
	o := options{mode: framework.Ephemeral}
	setup.Apply(&o.problems, &o, opts)
	unknown := o.mode < framework.Persistent || o.mode > framework.PersistentSequentialWithTTL
	unowned := o.mode == framework.Persistent || o.mode == framework.PersistentWithTTL
	o.problems.Refuse(unknown, "WithMode(%d): unknown mode", o.mode)
	o.problems.Refuse(o.mode == framework.Container, "WithMode(Container): servers remove a container that has no children")
	o.problems.Refuse(o.hasTTL() && o.ttl < 2*time.Millisecond, "WithTTL(%v): the mode needs a TTL of at least 2 ms", o.ttl)
	o.problems.Refuse(!o.hasTTL() && o.ttl != 0, "WithTTL(%v): the mode has no TTL", o.ttl)
	o.problems.Refuse(unowned && !o.overwriting, "WithMode(%d): a node that outlives sessions names no owner: it needs Overwriting()", o.mode)
	return o
}

func (o *options) ephemeral() bool {
	return o.mode == framework.Ephemeral || o.mode == framework.EphemeralSequential
}

func (o *options) sequential() bool {
	return o.mode == framework.EphemeralSequential || o.mode != o.fixed()
}

func (o *options) hasTTL() bool { return o.fixed() == framework.PersistentWithTTL }

// fixed is the mode of a node that outlives sessions once its name is known, number included.
func (o *options) fixed() framework.CreateMode {
	switch o.mode {
	case framework.PersistentSequential:
		return framework.Persistent
	case framework.PersistentSequentialWithTTL:
		return framework.PersistentWithTTL
	default:
		return o.mode
	}
}

// WithMode sets the kind of node. The default is framework.Ephemeral; framework.Container is refused.
//
// A sequential node is created under protection: its name is "_c_", a GUID, the name that was asked for, and a number.
// It keeps this name when it is made again.
//
// The other modes outlive the session, and the program: a node of theirs is there until Close, also while the client is
// not connected. Such a node names no owner. One without a number needs [Overwriting]: whichever node is at its path is
// taken over.
//
// Curator: the CreateMode of new PersistentNode(), with useProtection for sequential nodes.
func WithMode(mode framework.CreateMode) Option { return func(o *options) { o.mode = mode } }

// WithTTL sets after what time the servers remove a node of the modes that have a TTL, once this program has ended. It
// counts in milliseconds. Until then a child called touch, which is written twice in that time, keeps the node: watches
// on the node hear nothing of that.
//
// Curator: the ttl of new PersistentTtlNode(), whose child has the same name.
func WithTTL(ttl time.Duration) Option { return func(o *options) { o.ttl = ttl } }

// Overwriting takes a node over that belongs to another, and does not ask its owner: it is replaced, in one transaction
// if the mode is ephemeral; one that outlives sessions, where the mode does, is kept with new data, and Close deletes
// it. Two programs that overwrite each other's node do so without end, some ten times in the first second, and then
// about once a second each. The default waits until the node goes.
//
// Curator: new PersistentNode(), always, and by the data alone.
func Overwriting() Option { return func(o *options) { o.overwriting = true } }
