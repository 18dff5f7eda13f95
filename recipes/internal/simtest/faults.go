package simtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A Fault is something that befalls a client or a server. What its kind has no use for is zero.
type Fault struct {
	Kind   string `json:"kind"`
	Peer   int    `json:"peer,omitempty"`
	Server int    `json:"server,omitempty"`
	Op     string `json:"op,omitempty"`    // the request whose answer is lost or late
	Nth    int    `json:"nth,omitempty"`   // the number of the lost answer or event, counted from now
	For    span   `json:"for,omitempty"`   // how long, or how late
	Break  span   `json:"break,omitempty"` // when connections break during a stall
}

// The kinds of faults.
const (
	cut          = "cut"
	mute         = "mute"
	heal         = "heal"
	reset        = "reset"
	dropReply    = "drop reply"
	dropShake    = "drop handshake"
	delayReply   = "delay reply"
	restart      = "restart"
	elect        = "elect"
	freeze       = "freeze"
	lag          = "lag"
	latency      = "latency"
	stall        = "stall"
	swallowReply = "swallow reply"
	dropEvent    = "drop event"
	isolate      = "isolate"
	removeWaiter = "remove waiter"
	healAll      = "heal all"
)

var (
	ofPeers   = []string{cut, mute, heal, reset, dropReply, delayReply, latency, dropShake}
	ofServers = []string{restart, elect, freeze, lag, stall, swallowReply, dropEvent, isolate, removeWaiter, healAll}
	replies   = []string{"create", "children", "delete", "data", "multi", "exists", "set"}
	replyOps  = []lockstest.Op{
		lockstest.Create, lockstest.GetChildren, lockstest.Delete, lockstest.GetData, lockstest.Multi, lockstest.Exists, lockstest.SetData,
	}
)

// ofLocks is how many of the replies locks get: those of the others would change all their seeds.
const ofLocks = 4

// LoseAnyReply lets faults befall the answers to transactions, looks and writes, too.
func (e *Env) LoseAnyReply() { e.replies = len(replies) }

// check refuses what does not fit a simulation with so many clients and servers.
func (f Fault) check(peers, servers int) error {
	wantsOp := f.Kind == dropReply || f.Kind == delayReply
	switch {
	case !slices.Contains(ofPeers, f.Kind) && !slices.Contains(ofServers, f.Kind):
		return fmt.Errorf("there is no fault %q", f.Kind)
	case wantsOp && !slices.Contains(replies, f.Op):
		return fmt.Errorf("the fault %q has no op %q, but %q", f.Kind, f.Op, replies)
	case f.Peer < 0 || f.Peer >= peers || f.Server < 0 || f.Server >= servers:
		return fmt.Errorf("the fault %q is of client %d and server %d; there are %d and %d, counted from 0",
			f.Kind, f.Peer, f.Server, peers, servers)
	default:
		return nil
	}
}

// lane is the lane of the client or the server.
func (f Fault) lane() string {
	switch {
	case slices.Contains(ofPeers, f.Kind):
		return string(rune('A' + f.Peer))
	case f.Kind == healAll:
		return "server"
	default:
		return fmt.Sprint("server", f.Server)
	}
}

// String is the fault without its lane.
func (f Fault) String() string {
	text := f.Kind
	if f.Op != "" {
		text += " to " + f.Op
	}
	if f.Nth != 0 {
		text += fmt.Sprintf(", number %d", f.Nth)
	}
	if f.For != 0 {
		text += fmt.Sprintf(", %v", time.Duration(f.For))
	}
	if f.Break != 0 {
		text += fmt.Sprintf(", connections break after %v", time.Duration(f.Break))
	}
	return text
}

// pickFault chooses a fault.
func (e *Env) pickFault(dice Dice) Fault {
	f := Fault{Peer: dice.Pick(len(e.Peers)), Server: dice.Pick(e.Ensemble.Size())}
	kinds := []string{
		cut, mute, heal, heal, reset, dropReply, delayReply, restart, freeze, latency, stall, swallowReply, dropEvent,
	}
	if e.Seed%2 == 0 { // not both: a contender whose node's removal by hand is not heard of would be let in
		kinds[12] = removeWaiter
	}
	if e.Limited() {
		kinds[2], kinds[3] = dropShake, dropShake
	}
	if e.Ensemble.Size() > 1 {
		kinds[7], kinds[8] = elect, lag
		kinds = append(kinds, isolate)
	}
	f.Kind = kinds[dice.Pick(len(kinds))]
	some := func(most time.Duration) span { return span(dice.Some(most)) }
	switch f.Kind {
	case dropReply:
		f.Op = replies[dice.Pick(e.replies)]
	case delayReply:
		f.For = some(12 * time.Second)
		f.Op = e.orMulti("create", dice)
	case freeze:
		f.For = some(4 * time.Second)
	case isolate:
		f.For = some(2 * SessionTimeout)
	case dropShake:
		f.For = span(SessionTimeout) + some(SessionTimeout)
	case lag:
		f.For = some(400 * time.Millisecond)
	case latency:
		f.For = some(500 * time.Millisecond)
	case stall:
		f.For, f.Break = some(SessionTimeout), some(time.Second)
		f.Op = e.orMulti("", dice)
	case swallowReply:
		f.Nth = 1 + dice.Pick(10)
	case dropEvent:
		f.Nth = 1 + dice.Pick(3)
	}
	if slices.Contains(ofPeers, f.Kind) {
		f.Server = 0
	} else {
		f.Peer = 0
	}
	return f
}

// orMulti is op, or a transaction where any reply may be lost.
func (e *Env) orMulti(op string, dice Dice) string {
	if e.replies > ofLocks && dice.Pick(2) == 0 {
		return "multi"
	}
	return op
}
