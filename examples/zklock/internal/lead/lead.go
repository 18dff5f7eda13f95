// Package lead stands for an election on behalf of a program that asks over HTTP whether it leads.
package lead

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// Options are what an elector goes by. All but Report and StandAgain are required.
type Options struct {
	Client     *framework.Client
	Path       string        // the election
	Name       string        // this participant, which no other one is called
	Promise    time.Duration // how long a yes holds; negative: by the session timeout, see promiseOf
	StandAgain bool          // after a loss, instead of ending
	Report     func(Event)   // called by one goroutine; while it blocks, events wait or are dropped
}

// An Event is a step that Report gets.
type Event struct {
	Event   string    `json:"event"` // one of those below
	At      time.Time `json:"at"`
	Address string    `json:"address,omitempty"` // where questions are answered
	Name    string    `json:"name,omitempty"`    // the leader
	Token   int64     `json:"token,omitempty"`   // the fencing token
	Why     string    `json:"why,omitempty"`
	Dropped int       `json:"dropped,omitempty"` // events right before this one that Report did not get
}

// The events.
const (
	Listens = "listens" // questions are answered from now on
	Leads   = "leads"   // a term has begun
	Asked   = "asked"   // another process asks this one to leave
	Yields  = "yields"  // the term is about to be released
	Lost    = "lost"    // the term has ended by itself
	Sees    = "sees"    // another participant leads
)

// An Elector is one participant. It is a leader.LeaderSelector: it stands in one queue with those of this library and
// of Java Curator, and with zklock run -leader, and zklock revoke can ask it to leave. A LeaderLatch cannot be asked.
type Elector struct {
	options  Options
	selector *leader.LeaderSelector
	reports  *reports // set by Run

	mu       sync.Mutex
	promise  time.Duration
	term     *locks.Lease // nil unless it may say that it leads
	since    time.Time    // when term began
	promised time.Time    // when the last yes stops to hold
	seen     leader.Participant
	seenAt   time.Time // when it was first seen as the leader
}

// New returns an elector. It does no I/O.
func New(options Options) *Elector {
	if options.Report == nil {
		options.Report = func(Event) {}
	}
	selector := leader.NewLeaderSelector(options.Client, options.Path, leader.WithID(options.Name))
	return &Elector{options: options, selector: selector}
}

// A LostError says that a term ended before the elector gave it up.
type LostError struct{ Cause error }

func (e *LostError) Error() string { return fmt.Sprintf("leadership was lost: %v", e.Cause) }

// Unwrap returns why.
func (e *LostError) Unwrap() error { return e.Cause }

// Run stands for the election until ctx ends, a term is lost and it does not stand again, or the servers refuse. It
// blocks until its term is released, which waits for the end of the last promise, and then for at most a second for
// Report. It never returns nil. Errors: the cause of the end of ctx; a *[LostError]; a *[PromiseError]; those of
// LeaderSelector.Run and Observe.
func (e *Elector) Run(ctx context.Context) error {
	if err := e.fit(ctx); err != nil {
		return err
	}
	e.reports = newReports(e.options.Report)
	defer e.reports.end() // after Wait
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var observing sync.WaitGroup
	defer observing.Wait()
	defer end(nil) // before Wait
	observing.Go(func() {
		if err := e.observe(ctx); err != nil {
			end(err) // nothing, if ctx has ended
		}
	})
	err := e.selector.Run(ctx, func(ctx context.Context) error { return e.lead(ctx, end) })
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// fit sets how long a yes holds in the present session: a later one may have another timeout.
func (e *Elector) fit(ctx context.Context) error {
	session, err := e.options.Client.Session(ctx)
	if err != nil {
		return err
	}
	promise, err := promiseOf(session.Timeout(), e.options.Promise)
	e.mu.Lock()
	e.promise = promise
	e.mu.Unlock()
	return err
}

// lead is one term: it lasts until it is lost, its end is asked for, or ctx ends.
func (e *Elector) lead(ctx context.Context, end context.CancelCauseFunc) error {
	if err := e.fit(ctx); err != nil && ctx.Err() == nil {
		end(err)
		return nil
	}
	term := leader.LeaseFromContext(ctx)
	e.begin(term)
	e.reports.add(Event{Event: Leads, Name: e.options.Name, Token: term.FencingToken()})
	asked := false
	select {
	case <-ctx.Done(): // also if the term is lost
	case <-term.RevocationRequested():
		asked = true
	}
	promise := time.NewTimer(time.Until(e.stop()))
	defer promise.Stop()
	if asked {
		e.reports.add(Event{Event: Asked, Token: term.FencingToken(), Why: "another process asks for the leadership"})
	}
	select {
	case <-promise.C:
	case <-term.Done():
	}
	if lost := term.Err(); lost != nil {
		e.reports.add(Event{Event: Lost, Token: term.FencingToken(), Why: lost.Error()})
		if !e.options.StandAgain {
			end(&LostError{lost})
		}
		return nil
	}
	e.reports.add(Event{Event: Yields, Token: term.FencingToken()})
	return nil
}

func (e *Elector) begin(term *locks.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term, e.since = term, time.Now()
}

// stop ends the answers that this elector leads, and returns until when the last one holds.
func (e *Elector) stop() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.term = nil
	return e.promised
}
