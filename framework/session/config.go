package session

import (
	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Config is what a session is made of.
type Config struct {
	// Transport is the connection's. The session sets its Events.
	Transport transport.Config
	// Chroot must be there before anything else is asked for. It is empty, or begins with a slash.
	Chroot string
	// ACL is asked for the ACL of nodes that are created without one. It never returns an empty one.
	ACL func(path string) []zk.ACL
	// DefaultData is the data of nodes that are created with nil.
	DefaultData []byte
	// MaxRequest bounds the length of requests in bytes.
	MaxRequest int
	// LeaderRenewal has syncs renew leases, and not transactions alone.
	LeaderRenewal bool
	Policy        ErrorPolicy
	// Metered has requests counted, see WithMeter.
	Metered bool
	// Restarts is Restarts of the session before.
	Restarts int
	// Carried is what the session before has left.
	Carried Leftovers
}

// Events are what a session tells its owner. All are needed, and none may block. They are called under no lock of the
// session. Attached, Detached and Over come from two goroutines, perhaps in another order than that in which the
// session changed: an owner that hears of Attached or Detached asks for Err, which is not nil before Over is called.
type Events struct {
	// Attached: a server took the session, and its users find it so.
	Attached func()
	// Detached: the connection is gone.
	Detached func(reason error)
	// Over: the session has ended. Its leases have ended by then, and Done is closed.
	Over func()
	// Left: this is to be done in the next session. It comes after Over, and whenever the session is given such work
	// after its end.
	Left func(Leftovers)
	// Failed: a server could not be used, or refused the client. ErrAuthRefused is final: the next session would be
	// refused as well.
	Failed func(server string, err error)
	// Restarted: the session goes on with an ensemble that is younger than what the client has seen.
	Restarted func(server string, seen, found int64)
	// Chore: do this after what is urgent, in the order of the calls. It does not block.
	Chore func(do func())
	// OrphanFound: the node of a create whose answer came to nobody is going to be removed.
	OrphanFound func(path string)
	// RemovalFailed: the server refuses to remove a node that must go.
	RemovalFailed func(path string, err error)
}
