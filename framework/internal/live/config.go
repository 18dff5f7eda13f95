package live

import (
	"sync/atomic"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/cgroup"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
)

// Config is of one session.
type Config struct {
	// The session sets Transport's Events.
	Transport transport.Config
	// Chroot must exist before the session serves users. It is empty, or begins with a slash.
	Chroot string
	// ACL is for nodes that are created without one. It never returns an empty one.
	ACL func(path string) []zk.ACL
	// DefaultData replaces nil data.
	DefaultData []byte
	// MaxRequest bounds requests in bytes.
	MaxRequest int
	// SyncRenewal lets syncs renew leases, too.
	SyncRenewal bool
	Policy      session.ErrorPolicy
	// CountTraffic has the bytes of requests and answers counted, see WithTraffic.
	CountTraffic bool
	// EnsembleGeneration is the earlier session's.
	EnsembleGeneration int
	// Ring is the client's; the session at work writes to it under its mutex.
	Ring *cause.Ring
	// ReadsAll is the client's: once it is set, its sessions set no watch without reading the node (package watches).
	ReadsAll *atomic.Bool
	// Meter says for how long the process was throttled; nil where that is not known.
	Meter *cgroup.Meter
	// Carried is what the earlier session has left.
	Carried Backlog
}

// Events are calls of a session to its owner, under no lock of the session. All are needed, and none may block.
// Attached, Detached and Over come from two goroutines, perhaps in another order than the session changed: at Attached
// and Detached the owner asks for Err, which is not nil before Over is called.
type Events struct {
	// Attached: this server took the session, and users find it so, unless the session has ended since.
	Attached func(server string)
	// Detached: the connection is gone.
	Detached func(reason error)
	// Over: the session and its leases have ended, and Done is closed.
	Over func()
	// Backlog: this is to be done in the next session. It comes after Over, and for all such work that comes after the
	// end.
	Backlog func(Backlog)
	// Failed: a server could not be used, or refused the client. ErrAuthRefused is final, for the next session as well.
	Failed func(server string, err error)
	// Restarted: the session goes on with an ensemble younger than what the client has seen.
	Restarted func(server string, seen, found int64)
	// Chore: do this after what is urgent, in the order of the calls. It does not block.
	Chore func(do func())
	// OrphanFound: the node of a create whose answer was lost is going to be removed.
	OrphanFound func(path string)
	// RemovalFailed: the server refuses to remove a node that must go.
	RemovalFailed func(path string, err error)
}
