package session

import (
	"context"
	"fmt"

	"github.com/gocurator/curator/framework/internal/live"
)

// What recipes work with.
type (
	// A Session is one incarnation of the client at the ensemble.
	Session = live.Session
	// A Watch is on a node until its session ends.
	Watch = live.Watch
	// A View is what is known of a watched node.
	View = live.View
	// A Status is what is known of a watched node.
	Status = live.Status
	// A Waiter has one goroutine wait for news.
	Waiter = live.Waiter
	// A Binding ties something to the validity of a session.
	Binding = live.Binding
	// A Removal is the guaranteed deletion of a node.
	Removal = live.Removal
	// An Entry is a node that was created under protection.
	Entry = live.Entry
	// A ChildObserver hears of a directory's children.
	ChildObserver = live.ChildObserver
	// A TreeObserver hears what changes at and below a node.
	TreeObserver = live.TreeObserver
	// Attachments are values that recipes hang on a client or a session.
	Attachments = live.Attachments
	// A CreateMode is a kind of node.
	CreateMode = live.CreateMode
	// An ErrorPolicy says which states end leases.
	ErrorPolicy = live.ErrorPolicy
	// A ConnectError says that no server could be reached.
	ConnectError = live.ConnectError
	// A NoAuthError says which permission is missing, and where.
	NoAuthError = live.NoAuthError
	// A HangUpError says that a server closes the connection on a request again and again.
	HangUpError = live.HangUpError
)

// What is known of a watched node.
const (
	StatusUnknown = live.StatusUnknown
	StatusPresent = live.StatusPresent
	StatusGone    = live.StatusGone
	StatusRefused = live.StatusRefused
)

// The kinds of nodes.
const (
	Persistent                  = live.Persistent
	Ephemeral                   = live.Ephemeral
	PersistentSequential        = live.PersistentSequential
	EphemeralSequential         = live.EphemeralSequential
	Container                   = live.Container
	PersistentWithTTL           = live.PersistentWithTTL
	PersistentSequentialWithTTL = live.PersistentSequentialWithTTL
)

// Which states end leases.
const (
	SessionErrorPolicy  = live.SessionErrorPolicy
	StandardErrorPolicy = live.StandardErrorPolicy
)

// Errors.
var (
	ErrClosed         = live.ErrClosed
	ErrSessionLost    = live.ErrSessionLost
	ErrLapsed         = live.ErrLapsed
	ErrSuspended      = live.ErrSuspended
	ErrConnectionLost = live.ErrConnectionLost
	ErrAuthRefused    = live.ErrAuthRefused
	ErrNoChroot       = live.ErrNoChroot
	ErrUnsupported    = live.ErrUnsupported
	ErrTooLarge       = live.ErrTooLarge
	ErrNodeVanished   = live.ErrNodeVanished
)

// NewWaiter returns a Waiter that has no news.
func NewWaiter() Waiter { return live.NewWaiter() }

// Again reports whether a wait that has ended with err begins again.
func Again(ctx context.Context, err error) bool { return live.Again(ctx, err) }

// Outage reports whether err says that no server could be reached.
func Outage(err error) bool { return live.Outage(err) }

// FormatText is for Format methods.
func FormatText(f fmt.State, verb rune, text string) { live.FormatText(f, verb, text) }

// JoinErrors is errors.Join with a text of one line, which logs expect.
func JoinErrors(errs ...error) error { return live.JoinErrors(errs...) }
