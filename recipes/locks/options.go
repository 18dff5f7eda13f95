package locks

import (
	"strings"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/lockopt"
	"github.com/gocurator/curator/recipes/internal/setup"
)

// An Option sets up a lock. A wrong one is an error of the first call on the lock.
type Option func(*lockopt.Options)

func newOptions(opts []Option) (o lockopt.Options) {
	setup.Apply(&o.Problems, &o, opts)
	return o
}

// maxLockData leaves room for the rest of a request in the megabyte that servers take.
const maxLockData = 1<<20 - 16<<10

// WithLockData sets the data of the lock's nodes to a copy of data, for people and programs that look at them.
//
// Curator: InterProcessMutex.getLockNodeBytes(), InterProcessReadWriteLock(…, lockData),
// InterProcessSemaphoreV2.setNodeData().
func WithLockData(data []byte) Option {
	return func(o *lockopt.Options) {
		if len(data) > maxLockData { // Refuse would allocate for its arguments
			o.Problems.Refuse(true, "%w: lock data has %d bytes, servers take %d", framework.ErrTooLarge, len(data), maxLockData)
		}
		o.Problems.Refuse(string(data) == revokeMessage, `lock data "`+revokeMessage+`" would ask the holder to leave`)
		o.Node.OwnData, o.Node.Data = true, string(data)
	}
}

// WithExtraMarkers makes other clients' nodes in the queue count, as exclusive ones, as kazoo's extra_lock_patterns
// does. A marker is what stands in their names before the number.
func WithExtraMarkers(markers ...string) Option {
	return func(o *lockopt.Options) {
		for _, marker := range markers {
			o.Problems.Refuse(marker == "", "an extra marker is empty")
			o.Problems.Refuse(strings.Contains(marker, "/"), "the extra marker %q has a slash, no name of a node has", marker)
			o.Node.AddMarker(marker)
		}
	}
}

// WithTrace reports the lock's events to trace.
func WithTrace(trace Trace) Option { return func(o *lockopt.Options) { o.Trace = trace } }

// WithCaller has the log name the caller of Acquire, a function and a line, when the program drops a [Lease] without
// Release. It costs a third of a microsecond and an allocation for each acquire.
//
// Curator has none.
func WithCaller() Option { return func(o *lockopt.Options) { o.Callers = true } }
