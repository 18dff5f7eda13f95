package framework

import (
	"github.com/gocurator/curator/framework/session"
)

// What recipes work with is of package session, where it is explained.
type (
	// A Session is one incarnation of the client at the ensemble. See [session.Session].
	Session = session.Session
	// An Entry is a node that was created under protection. See [session.Entry].
	Entry = session.Entry
	// A Binding ties something, a lease for instance, to the validity of a session. See [session.Binding].
	Binding = session.Binding
	// A Watch keeps an eye on a node for as long as its session lasts. See [session.Watch].
	Watch = session.Watch
	// A View is what is known of a watched node at a moment. See [session.View].
	View = session.View
	// A Status is what is known of a watched node. See [session.Status].
	Status = session.Status
	// A ChildObserver hears of a directory's children. See [session.ChildObserver].
	ChildObserver = session.ChildObserver
	// A Removal is the guaranteed deletion of a node. See [session.Removal].
	Removal = session.Removal
)

// What is known of a watched node.
const (
	StatusUnknown = session.StatusUnknown
	StatusPresent = session.StatusPresent
	StatusGone    = session.StatusGone
	StatusRefused = session.StatusRefused
)

// An ErrorPolicy says which states end leases.
//
// Curator: ConnectionStateErrorPolicy.
type ErrorPolicy = session.ErrorPolicy

const (
	// SessionErrorPolicy lets leases outlast a lost connection until their ValidUntil. It is the default.
	//
	// Curator: SessionConnectionStateErrorPolicy.
	SessionErrorPolicy = session.SessionErrorPolicy
	// StandardErrorPolicy ends leases as soon as the connection is lost, and the client removes their nodes when it is
	// back. It is Curator's default: there leaders step down by themselves, and holders of locks by a listener.
	//
	// Curator: StandardConnectionStateErrorPolicy.
	StandardErrorPolicy = session.StandardErrorPolicy
)
