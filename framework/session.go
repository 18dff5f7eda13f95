package framework

import (
	"github.com/gocurator/curator/framework/session"
)

// What users get from a client. Package session has it, and what recipes work with besides.
type (
	// A Session is one incarnation of the client at the ensemble. See [session.Session].
	Session = session.Session
	// A View is what is known of a watched node at a moment. See [session.View].
	View = session.View
	// A Status is what is known of a watched node. See [session.Status].
	Status = session.Status
	// An Explanation says why something was lost. See [session.Explanation].
	Explanation = session.Explanation
	// A LossKind is an Explanation's, one of a closed list. See [session.LossKind].
	LossKind = session.LossKind
)

// What is known of a watched node.
const (
	StatusUnknown = session.StatusUnknown
	StatusPresent = session.StatusPresent
	StatusGone    = session.StatusGone
	StatusFailed  = session.StatusFailed
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
