package transport

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gocurator/curator/framework/ranked"
)

// An Address is one way to a server.
type Address struct {
	Server string // host:port as the connect string names it
	Dial   string // host:port to dial: the same, or what the name was looked up to be
	// 1 if it is of another family, IPv4 or IPv6, than the one that the look-up prefers; tried after those
	rank int
}

// A Lookup finds the IP addresses of a host. It may take longer than an attempt, whose end does not end ctx.
type Lookup func(ctx context.Context, host string) ([]string, error)

type found struct {
	ips    []string
	number int // the look-up's
}

// A Route is a client's list of servers, and what became of the attempts to reach them. It outlives sessions: one
// Transport after the other uses the same Route. Its methods are safe for concurrent use.
type Route struct {
	servers func(ctx context.Context) []string
	lookup  Lookup // nil: servers are dialed by their names
	looking Calls

	mu    ranked.Mutex[ranked.Leaf, Route]
	round round
	known map[string]found // each host by its newest look-up that was answered
	size  int              // how many addresses the latest attempt had

	began time.Time     // the present round, without its pauses; zero before the first attempt since an attachment
	limit time.Duration // a handshake's time limit at the latest attempt
	cut   bool          // a look-up of this round had too little time
	slow  int           // failed rounds since an attachment that needed more time
}

// NewRoute returns a Route over what servers lists, which is asked at each attempt. Each host is then looked up, if
// lookup is not nil.
func NewRoute(servers func(ctx context.Context) []string, lookup Lookup) *Route {
	return &Route{servers: servers, lookup: lookup, known: make(map[string]found)}
}

// next chooses the address of the next attempt. It fails if no host is known by any address. problems are those of
// look-ups, by server: a host that cannot be looked up any more is taken to be where it was.
func (r *Route) next(ctx context.Context) (a Address, problems map[string]error, ok bool) {
	all, problems, cut := r.addresses(ctx)
	cut = cut || errors.Is(ctx.Err(), context.DeadlineExceeded)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	slices.SortStableFunc(all, func(a, b Address) int { return cmp.Compare(a.rank, b.rank) })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size = len(all); r.size == 0 {
		r.round.failed++
		r.slow++
		return Address{}, problems, false
	}
	for i := range all {
		all[i].rank = 0 // it may be another one at the next look-up, of the same address
	}
	r.round.nowhere = 0
	for server := range problems {
		if !slices.ContainsFunc(all, func(a Address) bool { return a.Server == server }) {
			r.round.nowhere++
		}
	}
	failed := r.round.failed
	a = r.round.next(all)
	now := time.Now()
	switch {
	case r.began.IsZero():
		r.began = now
	case r.round.failed > failed:
		if r.cut || now.Sub(r.began) >= r.limit { // attempts that fail sooner would not do better with more time
			r.slow++
		}
		r.began, r.cut = now, false
	}
	r.cut = r.cut || cut
	return a, problems, true
}

// paused notes a pause before an attempt, which does not count as a part of its round.
func (r *Route) paused(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.began.IsZero() {
		r.began = r.began.Add(d)
	}
}

// limits says how long an attempt, and the handshake in it, may take now.
func (r *Route) limits(session, connection time.Duration) (attempt, handshake time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempt, handshake = limits(session, connection, max(r.size, 1), r.slow)
	r.limit = handshake
	return attempt, handshake
}

// search begins to look for a server for a new session.
func (r *Route) search() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round.verdicts = nil
}

func (r *Route) attached(a Address) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round.attached(a)
	r.began, r.cut, r.slow = time.Time{}, false, 0
}

// level notes that the server at a has all that the client has seen.
func (r *Route) level(a Address) { r.judge(a, level) }

// behind notes that the server at a lacks what the client has seen, and reports whether the whole ensemble does.
func (r *Route) behind(a Address) (whole bool) { return r.judge(a, behind) }

func (r *Route) judge(a Address, v verdict) (whole bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round.verdicts[a] = v
	return younger(r.round.all, r.round.nowhere, r.round.verdicts)
}

// A round is the order in which addresses are tried: the one that was not tried for the longest time is next. So an
// address that was left, or that failed, is tried after all others.
type round struct {
	tried  map[Address]int // number of the latest attempt at the address, or of the end of its connection
	count  int             // attempts and ends of connections
	begun  int             // count when this round began
	failed int             // whole rounds that failed in a row

	all      []Address           // the addresses at the latest attempt
	nowhere  int                 // servers without an address then
	verdicts map[Address]verdict // by address: the latest attempt since the search for a server began
}

// next chooses among all, which is not empty and in random order.
func (r *round) next(all []Address) Address {
	if r.tried == nil {
		r.tried = make(map[Address]int)
	}
	chosen := all[0]
	for _, a := range all[1:] {
		if r.tried[a] < r.tried[chosen] {
			chosen = a
		}
	}
	if r.tried[chosen] > r.begun { // all have been tried in this round
		r.failed++
		r.begun = r.count
	}
	r.mark(chosen)
	r.all = all
	if r.verdicts == nil {
		r.verdicts = make(map[Address]verdict)
	}
	r.verdicts[chosen] = unknown
	if len(r.tried) > 2*len(all)+64 { // names that are looked up may never give most of these again
		r.forget(all)
	}
	return chosen
}

func (r *round) mark(a Address) {
	r.count++
	r.tried[a] = r.count
}

func (r *round) forget(all []Address) {
	kept := make(map[Address]int, len(all))
	for _, a := range all {
		kept[a] = r.tried[a]
	}
	r.tried = kept
	maps.DeleteFunc(r.verdicts, func(a Address, _ verdict) bool { return !slices.Contains(all, a) })
}

// attached ends the search: the next one begins with a round of its own.
func (r *round) attached(a Address) {
	r.failed = 0
	r.verdicts = nil
	r.left(a)
}

// left puts the address whose connection has ended behind all others. The next round tries it, too.
func (r *round) left(a Address) {
	if r.tried == nil {
		r.tried = make(map[Address]int)
	}
	r.mark(a)
	r.begun = r.count
}

const (
	leastAttempt   = 50 * time.Millisecond
	firstHandshake = 2 * time.Second
)

// limits says how long an attempt, and the handshake in it, may take. In the first round all addresses get their turn
// within the session timeout and within the time that an operation waits for a connection. Both limits double with each
// whole round that failed and lasted for a handshake's limit, or had too little time for a look-up, so that a slow
// link, or a server that is slow after an election, gets through as well. Quick refusals double nothing: a server that
// then starts, and forgets a handshake that came too early, would cost the whole of the connection timeout.
func limits(session, connection time.Duration, addresses, failed int) (attempt, handshake time.Duration) {
	attempt = max(min(session, connection)/time.Duration(addresses+1), leastAttempt)
	handshake = firstHandshake
	for ; failed > 0 && (attempt < connection || handshake < connection); failed-- {
		attempt, handshake = doubled(attempt, connection), doubled(handshake, connection)
	}
	attempt = min(attempt, connection)
	return attempt, min(handshake, attempt)
}

func doubled(d, most time.Duration) time.Duration {
	if d > most/2 {
		return most
	}
	return 2 * d
}
