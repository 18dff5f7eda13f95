package framework

import (
	"fmt"
	"log/slog"
	"time"
)

// A State is what a client's users know of its connection. It has no READ_ONLY: the client asks for no
// connection to a server that takes reads only.
//
//	            attached               detached
//	LATENT ───────────────▶ CONNECTED ───────────▶ SUSPENDED ◀──┐
//	                            │                   │     │     │ detached
//	                            │ over         over │     │ attached
//	                            ▼                   │     ▼     │
//	                          LOST ◀────────────────┘  RECONNECTED
//	                            │        ◀──── over ───────┘ ▲
//	                            └──────── attached ──────────┘
//
// "attached" means that a server took the session, "detached" that the connection is gone, "over" that the session is:
// the servers said so, or its timeout has passed since the newest answered request was sent. The client then opens a
// new session, and RECONNECTED is that one's. If the servers refuse the client's authentication, LOST is the last
// state, also after LATENT, and [Client.Err] says why. Listeners hear every change, in order, each on a goroutine of
// its own.
//
// Curator: ConnectionState.
type State int

const (
	// StateLatent says that the client has never been connected. Listeners do not hear of it.
	StateLatent State = iota
	// StateConnected comes once, with the first session.
	StateConnected
	// StateSuspended says that the connection is lost. The session may live on, and leases are valid until their
	// ValidUntil (or have ended, under StandardErrorPolicy).
	StateSuspended
	// StateReconnected says that there is a connection again: with the same session after StateSuspended, a new one
	// after StateLost.
	StateReconnected
	// StateLost says that the session is over: its ephemeral nodes are gone or about to go, and every lease has ended
	// before. The servers refuse a client that stays in this state, or enters it from StateLatent: see [Client.Err].
	StateLost
)

// A StateChange is what listeners hear. Later versions may add fields.
type StateChange struct {
	State    State
	Previous State // StateLatent at the first change
	// SessionID is that of the session whose connection came or went, or that is over: 0 if it never had one.
	SessionID int64
	Server    string    // the one that the client is connected to, or was last; "" before the first connection
	Time      time.Time // when the client noticed it: a listener may hear of it later
	Err       error     // why the connection was lost, or the session is over; nil when there is a connection
}

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
	default:
		return fmt.Sprintf("State(%d)", int(s))
	}
}

// IsConnected reports whether there is a connection.
//
// Curator: ConnectionState.isConnected().
func (s State) IsConnected() bool {
	return s == StateConnected || s == StateReconnected
}

// Events come from one session at a time, in order.
type event int

const (
	eventAttached event = iota
	eventDetached
	eventOver    // the session is over
	eventRefused // over, and the servers will never take the client
)

// next is the diagram of State, row by row.
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

func (s State) level() slog.Level {
	if s.IsConnected() {
		return slog.LevelInfo
	}
	return slog.LevelWarn
}
