package locks

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/variant"
)

// An Option sets up a lock. A wrong one is an error of the first call on the lock.
type Option func(*options)

type options struct {
	data     []byte // nil: the client's default data
	extra    []string
	trace    Trace
	callers  bool
	problems []error

	variant *variant.Variant // nil: the queue of locks
}

func newOptions(opts []Option) *options {
	o := &options{}
	for _, opt := range opts {
		if opt == nil {
			o.problems = append(o.problems, errors.New("an option is nil"))
			continue
		}
		opt(o)
	}
	return o
}

// SetVariant is for [variant.Option].
func (o *options) SetVariant(v variant.Variant) { o.variant = &v }

// maxLockData leaves room for the rest of a request in the megabyte that servers take.
const maxLockData = 1<<20 - 16<<10

// WithLockData sets the data of the lock's nodes to a copy of data, for people and programs that look at them.
//
// Curator: InterProcessMutex.getLockNodeBytes(), InterProcessReadWriteLock(…, lockData),
// InterProcessSemaphoreV2.setNodeData().
func WithLockData(data []byte) Option {
	return func(o *options) {
		if len(data) > maxLockData {
			o.problems = append(o.problems, fmt.Errorf("%w: lock data has %d bytes, servers take %d", framework.ErrTooLarge, len(data), maxLockData))
		}
		if string(data) == revokeMessage {
			o.problems = append(o.problems, fmt.Errorf("lock data %q would ask the holder to leave", revokeMessage))
		}
		o.data = append([]byte{}, bytes.Clone(data)...)
	}
}

// WithExtraMarkers makes other clients' nodes in the queue count, as exclusive ones. A marker is what stands in their
// names before the number.
func WithExtraMarkers(markers ...string) Option {
	return func(o *options) {
		for _, marker := range markers {
			switch {
			case marker == "":
				o.problems = append(o.problems, errors.New("an extra marker is empty"))
				continue
			case strings.Contains(marker, "/"):
				o.problems = append(o.problems, fmt.Errorf("the extra marker %q has a slash, no name of a node has", marker))
				continue
			}
			o.extra = append(o.extra, marker)
		}
	}
}

// WithTrace reports the lock's events to trace.
func WithTrace(trace Trace) Option { return func(o *options) { o.trace = trace } }

// WithCaller has the log name the caller of Acquire, a function and a line, when the program drops a [Lease] without
// Release. It costs a third of a microsecond and an allocation for each acquire.
//
// Curator has none.
func WithCaller() Option { return func(o *options) { o.callers = true } }
