package lockstest

import (
	"context"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"
)

// A Link is one client's own network path to the servers. What is done to it harms no other client. It understands
// frames as far as it must to spoil a chosen answer, and it keeps a record of what the client sent. Its methods are
// safe for concurrent use.
type Link struct {
	connect string
	dial    func(ctx context.Context, network, address string) (net.Conn, error)

	mu        sync.Mutex
	cut       bool
	muted     bool
	suspended chan struct{} // closed by Resume; nil while the client runs
	wires     map[*wire]struct{}
	faults    []*fault
	holds     []chan struct{} // one for each answer that is held, closed when it may pass
	segments  [][]Op
	events    int
	refusals  map[Op]int
	dials     int
	passwords map[int64][]byte
	session   int64          // the last one that was formed
	disturbed map[int64]bool // sessions to which something was done that can cost them a lease, or their lives
}

// A fault befalls the next answer to a request of its kind.
type fault struct {
	op    Op
	delay time.Duration // 0: the connection breaks in place of the answer
	held  chan struct{} // if not nil, closed when the answer may pass
	cut   bool          // the link is cut, too
}

// NewLink returns a healthy link to what dial reaches. connect is the connect string for clients that use it.
func NewLink(connect string, dial func(ctx context.Context, network, address string) (net.Conn, error)) *Link {
	return &Link{
		connect: connect, dial: dial, wires: map[*wire]struct{}{}, refusals: map[Op]int{}, passwords: map[int64][]byte{},
		disturbed: map[int64]bool{},
	}
}

// Servers is the connect string for clients that use the link.
func (l *Link) Servers() string { return l.connect }

// DialContext is what a client dials with.
func (l *Link) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	refused := &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	if !l.awaitRunning(ctx.Done()) || l.isCut() || !l.awaitHeld(ctx) {
		return nil, refused
	}
	raw, err := l.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: raw, link: l, down: make(chan struct{}), ops: map[int32]Op{}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		raw.Close()
		return nil, refused
	}
	l.wires[w] = struct{}{}
	l.dials++
	return w, nil
}

func (l *Link) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// disturb notes that something is done to the client that can cost its session a lease, or its life.
func (l *Link) disturb() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disturbed[l.session] = true
}

// isDisturbed reports whether something was done to the client while it had a session.
func (l *Link) isDisturbed(session int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.disturbed[session]
}

// present is the client's last session.
func (l *Link) present() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

// Cut breaks the connections and refuses new ones. What was sent before still arrives.
func (l *Link) Cut() {
	l.mu.Lock()
	l.cut = true
	l.mu.Unlock()
	l.Reset()
}

// Mute swallows everything in both directions, and neither end notices, as in a network that is partitioned.
func (l *Link) Mute() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.muted, l.disturbed[l.session] = true, true
}

// Heal undoes Cut and Mute. Connections that were mute break: what was swallowed is missing.
func (l *Link) Heal() {
	l.mu.Lock()
	muted := l.muted
	l.cut, l.muted = false, false
	l.mu.Unlock()
	if muted {
		l.Reset()
	}
}

// Reset breaks the connections; new ones can be made.
func (l *Link) Reset() {
	l.mu.Lock()
	l.disturbed[l.session] = true
	wires := l.wires
	l.wires = map[*wire]struct{}{}
	l.mu.Unlock()
	for w := range wires {
		_ = w.Close()
	}
}

// DropReply breaks the connection in place of the next answer to a request of that kind: it has been executed, and the
// client does not know. Like all faults of answers, it lets those pass that refuse a creation: servers remove an empty
// container at any time, and with it the parent of the node.
func (l *Link) DropReply(op Op) { l.add(&fault{op: op}) }

// CutAtReply is DropReply and Cut at the same moment, so that the client cannot ask again. Every answer that refuses a
// request passes.
func (l *Link) CutAtReply(op Op) { l.add(&fault{op: op, cut: true}) }

// DelayReply holds up the next answer to a request of that kind, and all that follows it.
func (l *Link) DelayReply(op Op, delay time.Duration) { l.add(&fault{op: op, delay: delay}) }

// HoldReply is DelayReply until release is called. While an answer is held no connection is made, by which the client
// could find out.
func (l *Link) HoldReply(op Op) (release func()) {
	held := make(chan struct{})
	l.add(&fault{op: op, held: held})
	return sync.OnceFunc(func() { close(held) })
}

// hold notes that an answer is being held.
func (l *Link) hold(held chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holds = append(l.holds, held)
}

// awaitHeld waits until no answer is held, and reports false if ctx ends before.
func (l *Link) awaitHeld(ctx context.Context) bool {
	l.mu.Lock()
	holds := slices.Clone(l.holds)
	l.mu.Unlock()
	for _, held := range holds {
		select {
		case <-held:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (l *Link) add(f *fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disturbed[l.session] = true
	l.faults = append(l.faults, f)
}

// take returns the fault that is waiting for an answer of that kind, and counts it if it refuses the request.
func (l *Link) take(op Op, refused bool) *fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	if refused {
		l.refusals[op]++
	}
	i := slices.IndexFunc(l.faults, func(f *fault) bool { return f.op == op && (!refused || !f.cut && op != Create) })
	if i < 0 {
		return nil
	}
	f := l.faults[i]
	l.faults = slices.Delete(l.faults, i, i+1)
	return f
}

// Segments returns what the client has sent since the last call, but for pings: for each write the requests in it.
func (l *Link) Segments() [][]Op {
	l.mu.Lock()
	defer l.mu.Unlock()
	segments := l.segments
	l.segments = nil
	return segments
}

// Requests counts what the client has sent since the last call, but for pings and for the renewals that any client with
// a lease sends.
func (l *Link) Requests() map[Op]int {
	counts := map[Op]int{}
	for _, segment := range l.Segments() {
		for _, op := range segment {
			if op != Sync && op != Renewal {
				counts[op]++
			}
		}
	}
	return counts
}

// Events counts the events of watches that the client has read since the last call.
func (l *Link) Events() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.events
	l.events = 0
	return n
}

// Refusals counts the answers so far that have refused a request of that kind.
func (l *Link) Refusals(op Op) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.refusals[op]
}

// Dials counts the connections that were made.
func (l *Link) Dials() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dials
}

// Password returns what a session's server gave the client to prove who it is, nil if the session was not made on this
// link.
func (l *Link) Password(session int64) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.passwords[session]
}

func (l *Link) isMute() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.muted
}

func (l *Link) sent(ops []Op) {
	if len(ops) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments, ops)
}

func (l *Link) heard() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events++
}

func (l *Link) formed(session int64, password []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if session == 0 { // the server refuses one that is over
		return
	}
	l.session = session
	l.disturbed[session] = l.disturbed[session] || l.cut || l.muted || l.suspended != nil || len(l.faults) > 0
	l.passwords[session] = password
}

func (l *Link) forget(w *wire) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.wires, w)
}
