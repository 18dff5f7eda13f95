package play

import "time"

// An Event is a report of a process to the page. Fields that do not belong to its kind are empty.
type Event struct {
	At     float64 `json:"at"`               // milliseconds since 1970, by the process's own clock
	Worker int     `json:"worker,omitempty"` // the worker that it concerns; 0: the server
	Kind   string  `json:"kind"`

	Node        string  `json:"node,omitempty"`        // the worker's own
	Predecessor string  `json:"predecessor,omitempty"` // the node that it waits for
	Token       int64   `json:"token,omitempty"`       // the fencing token of a hold
	Read        bool    `json:"read,omitempty"`        // the hold may stand beside other readers'
	State       string  `json:"state,omitempty"`       // the connection's
	Text        string  `json:"text,omitempty"`        // why a lease was lost, or what failed
	Removed     bool    `json:"removed,omitempty"`     // the lease was lost because its node was deleted
	Left        float64 `json:"left,omitempty"`        // milliseconds for which a lease is valid without a connection
	Queue       []Node  `json:"queue,omitempty"`
}

// A Node is a node in the lock's directory, as the server has it.
type Node struct {
	Name   string `json:"name"`
	Worker int    `json:"worker,omitempty"` // its owner; 0 if its data names none
}

// Kinds of events.
const (
	Ready    = "ready"    // the worker is connected, or the server listens
	Asks     = "asks"     // the worker begins to acquire
	Waits    = "waits"    // it has a node, and waits for another node to go
	Acquired = "acquired" // it holds
	Released = "released" // its lease has ended by a release
	Lost     = "lost"     // its lease has ended without a release: At says when
	State    = "state"    // its connection came or went
	Left     = "left"     // it holds without a connection
	Failed   = "failed"   // the process has failed, or an acquire that is tried again
	Queue    = "queue"    // the lock's nodes have changed at the server
	Expired  = "expired"  // the server has ended a session; Node is a node that went with it
	Removed  = "removed"  // Server.Remove has deleted Node; it found none if that is empty
)

func stamp(at time.Time) float64 { return float64(at.UnixMicro()) / 1000 }
