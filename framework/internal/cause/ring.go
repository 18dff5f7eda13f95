package cause

import (
	"math"
	"time"
)

const (
	size    = 256 // events
	servers = 15  // that have a name here; the rest are one, the last
)

// least is how late a timer must run to be an event. Go's own are late by less, also on a busy machine.
const least = 10 * time.Millisecond

// unit is that of how long a suspension or attempts lasted, in an event: 32 bits have more than a year of it.
const unit = 10 * time.Millisecond

// A Ring keeps the newest events of a client. Its methods but New do not allocate, and are not safe for concurrent use.
type Ring struct {
	began     time.Time
	count     uint64 // events ever
	ran       int64  // until when the time of late timers has been counted
	tried     int64  // until when the time of attempts to connect has been counted
	suspended time.Duration
	trying    Trying
	names     [servers + 1]string
	events    [size]Event
}

// Trying is an attempt to connect that is under way.
type Trying struct {
	Since  int64
	Until  int64 // when there was a connection; valid only from Shaking on
	Server uint8
	Stage  Stage
	Active bool
}

// A Stage is how far an attempt to connect has got.
type Stage uint8

// How far an attempt to connect has got.
const (
	Dialing        Stage = iota
	Shaking              // there is a connection, and no answer to the handshake yet
	Authenticating       // the handshake was answered, and SASL is not over
)

// New returns a ring that begins at an instant, with which all others are compared.
func New(began time.Time) *Ring {
	r := &Ring{began: began}
	r.names[servers] = "another server"
	return r
}

// Since is the time of an instant here.
func (r *Ring) Since(at time.Time) int64 { return int64(at.Sub(r.began)) }

// Mark is the place behind the newest event, for [Ring.Record].
func (r *Ring) Mark() uint64 { return r.count }

func (r *Ring) add(e Event) {
	r.events[r.count%size] = e
	r.count++
}

// server is the index of a name. A new name takes the place of one that no event has.
func (r *Ring) server(name string) uint8 {
	if name == "" {
		return servers
	}
	for i := range r.names[:servers] {
		switch r.names[i] {
		case name:
			return uint8(i)
		case "":
			r.names[i] = name
			return uint8(i)
		}
	}
	var used [servers + 1]bool
	for i := range min(r.count, size) {
		used[r.events[i].Server] = true
	}
	if r.trying.Active {
		used[r.trying.Server] = true
	}
	for i := range r.names[:servers] {
		if !used[i] {
			r.names[i] = name
			return uint8(i)
		}
	}
	return servers
}

// Begin notes that a session began.
func (r *Ring) Begin(now time.Time) {
	r.trying.Active, r.tried = false, r.Since(now)
	r.add(Event{At: r.Since(now), Kind: Began})
}

// Try notes that an attempt to connect began, or how far it has got.
func (r *Ring) Try(now time.Time, server string, stage Stage) {
	at := r.Since(now)
	if stage == Dialing || !r.trying.Active {
		r.trying = Trying{Since: at, Until: at, Server: r.server(server), Active: true}
	}
	if stage == Shaking {
		r.trying.Until = at
	}
	r.trying.Stage = stage
}

// Fail notes that the attempt failed. Failures of one outage that are alike become one event, which has the time since
// the connection ended or the attempt before failed.
func (r *Ring) Fail(now time.Time, server string, code Code) {
	r.trying.Active = false
	at, index := r.Since(now), r.server(server)
	lasted := max(0, at-r.tried) / int64(unit)
	r.tried += lasted * int64(unit)
	for i := r.count; i > 0 && r.count-i < size && r.events[(i-1)%size].Kind == Failed; i-- {
		if e := &r.events[(i-1)%size]; e.Server == index && e.Code == code {
			e.A, e.N = at, uint32(min(int64(e.N)+lasted, math.MaxUint32))
			e.Times = uint8(min(int(e.Times)+1, math.MaxUint8))
			return
		}
	}
	r.add(Event{At: at, A: at, N: uint32(min(lasted, math.MaxUint32)), Kind: Failed, Server: index, Code: code, Times: 1})
}

// Attach notes that a server took the session, with an answer to a request of sent.
func (r *Ring) Attach(sent, received time.Time, server string) {
	r.trying.Active, r.tried = false, r.Since(received)
	r.add(Event{At: r.Since(received), A: int64(received.Sub(sent)), Kind: Attached, Server: r.server(server)})
}

// Detach notes that the connection ended. heard is as for GiveUp, if a renewal is waited for.
func (r *Ring) Detach(now, heard time.Time, server string, code Code) {
	r.tried = r.Since(now)
	e := Event{At: r.tried, Kind: Detached, Server: r.server(server), Code: code}
	e.hear(now, heard)
	r.add(e)
}

// Renew notes that a renewal was written that was planned for then.
func (r *Ring) Renew(now, planned time.Time, server string) {
	late := time.Duration(0)
	if !planned.IsZero() {
		late = max(0, now.Sub(planned))
	}
	r.add(Event{At: r.Since(now), A: int64(late), Kind: Renewed, Server: r.server(server)})
}

// Answer notes the answer to a renewal of sent.
func (r *Ring) Answer(sent, received time.Time, server string) {
	r.add(Event{At: r.Since(received), A: int64(received.Sub(sent)), Kind: Answered, Server: r.server(server)})
}

// GiveUp notes that the client leaves a server that did not answer a renewal. heard is when the newest other answer
// came since that was sent; zero for none.
func (r *Ring) GiveUp(now, heard time.Time, server string) {
	e := Event{At: r.Since(now), Kind: GaveUp, Server: r.server(server)}
	e.hear(now, heard)
	r.add(e)
}

func (e *Event) hear(now, heard time.Time) {
	if !heard.IsZero() {
		e.A, e.N = int64(now.Sub(heard)), 1
	}
}

// Run notes that the client's clock runs now, for which it was planned then, and how long the machine has ever been
// suspended. It is an event only if the clock is late. Time is counted once, however many looks find it.
func (r *Ring) Run(now, planned time.Time, suspended time.Duration) {
	at := r.Since(now)
	slept := max(0, suspended-r.suspended)
	r.suspended = max(r.suspended, suspended)
	late := at - max(r.Since(planned), r.ran)
	if planned.IsZero() || late < int64(least) {
		return
	}
	r.ran = at
	r.add(Event{At: at, A: late, N: uint32(min(slept/unit, math.MaxUint32)), Kind: Late})
}

// End notes that leases or the session ended.
func (r *Ring) End(now time.Time, how How) {
	r.add(Event{At: r.Since(now), A: int64(how), Kind: Ended})
}
