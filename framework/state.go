package framework

import (
	"fmt"
	"log/slog"
)

// A State is what a client's users know of its connection.
//
// Curator: ConnectionState.
type State int

const (
	// StateLatent is the state of a client that has never been connected. Listeners are not told of it.
	StateLatent State = iota
	// StateConnected is announced once: the first session is there.
	StateConnected
	// StateSuspended says that the connection is lost. The session may live on at the servers, and leases are valid
	// until their ValidUntil (or have ended, under StandardErrorPolicy).
	StateSuspended
	// StateReconnected says that a connection is there again: to the same session after StateSuspended, to a new one
	// after StateLost.
	StateReconnected
	// StateLost says that the session is over: all its ephemeral nodes are gone or about to go, and every lease has
	// ended before this is announced. A client that was never connected, or stays in this state, is refused by the
	// servers: see [Client.Err].
	StateLost
	// StateReadOnly says that the server takes reads only. go-zookeeper never asks for such a connection, so it is not
	// told at present.
	StateReadOnly
)

// String returns Curator's name of the state.
func (s State) String() string {
	switch s {
	case StateLatent:
		return "LATENT"
	case StateConnected:
		return "CONNECTED"
	case StateSuspended:
		return "SUSPENDED"
	case StateReconnected:
		return "RECONNECTED"
	case StateLost:
		return "LOST"
	case StateReadOnly:
		return "READ_ONLY"
	default:
		return fmt.Sprintf("State(%d)", int(s))
	}
}

// IsConnected reports whether operations can be expected to succeed.
//
// Curator: ConnectionState.isConnected().
func (s State) IsConnected() bool {
	return s == StateConnected || s == StateReconnected || s == StateReadOnly
}

// An event moves the state. Events come from one session at a time, in order.
type event int

const (
	eventAttached event = iota // a server took the session
	eventDetached              // the connection is gone
	eventOver                  // the session is over
	eventRefused               // the session is over, and the servers will never take the client
)

// next is the whole state machine: the diagram in doc.go, row by row. What does not change the state is not told.
func (s State) next(e event) State {
	switch {
	case e == eventAttached && s == StateLatent:
		return StateConnected
	case e == eventAttached && !s.IsConnected():
		return StateReconnected
	case e == eventDetached && s.IsConnected():
		return StateSuspended
	case e == eventOver && s != StateLatent, e == eventRefused:
		return StateLost
	default:
		return s
	}
}

// level is the log level of a change to this state.
func (s State) level() slog.Level {
	if s.IsConnected() {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}
