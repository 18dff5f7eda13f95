package malformtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/retry"
)

// The times of a run, and what a client may send. A client that fails again and again sends about ten requests, and
// dials once, a second.
const (
	SessionTimeout = 10 * time.Second
	ConnectTimeout = 5 * time.Second
	SpoilTime      = 20 * time.Second
	slack          = time.Second
	patience       = 2 * time.Minute // until the client works again
	requestsASec   = 25
	dialsASec      = 3
	firstRequests  = 150
	firstDials     = 30
)

// A Run is a story with one malformation in it.
type Run struct {
	T      *testing.T
	Server *zktest.Server
	Client *framework.Client // its frames are spoiled
	Honest *framework.Client // another client, whose frames come as they are

	journal journaltest.Journal
	clients int

	story        *Story
	part         Part
	kind         string
	malformation Malformation
	spoil        func([]byte) []byte
	change       Change // replaces the malformation

	by      *Tamperer
	skipped int  // frames so far that were let through as they are
	owes    bool // the malformation takes one more frame, of any kind
	struck  int  // frames that were spoiled
	recover func(ctx context.Context, r *Run) error

	mu  sync.Mutex
	bad map[string]string
}

// inBubble plays the run in a bubble. If that hangs, it panics with the name of the run.
func (r *Run) inBubble(t *testing.T, name string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("%s: %v", name, p))
		}
	}()
	zktest.Bubble(t, r.play)
}

// Bad notes a harm. It is safe for concurrent use.
func (r *Run) Bad(outcome, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.bad == nil {
		r.bad = map[string]string{}
	}
	r.bad[outcome] = fmt.Sprintf(format, args...)
}

func (r *Run) play(t *testing.T) {
	r.T = t
	r.Server = zktest.New(t, r.story.Server...)
	r.recover = r.story.Recover
	r.Honest = r.connect(r.Server.NewLink().DialContext)
	if r.story.Setup != nil {
		r.story.Setup(r)
	}
	link := r.Server.NewLink()
	link.SetLatency(time.Millisecond) // without latency a loop would stop the bubble's clock
	r.by = NewTamperer(link.DialContext)
	if r.part.Early {
		r.Arm()
	}
	r.Client = r.connect(r.by.DialContext, slices.Concat(r.story.Client, r.part.Client, []framework.Option{framework.WithLogger(slog.New(panics{r}))})...)
	defer r.end()
	if !r.part.Early {
		if err := r.Client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	dials, requests := r.by.Sent()
	r.part.Live(r)
	r.by.Set(nil)
	seconds := int(time.Since(began)/time.Second) + 1
	moreDials, moreRequests := r.by.Sent()
	if moreDials -= dials; moreDials > firstDials+dialsASec*seconds {
		r.Bad(OutcomeHot, "%d dials in %d s", moreDials, seconds)
	}
	if moreRequests -= requests; moreRequests > firstRequests+requestsASec*seconds {
		r.Bad(OutcomeHot, "%d requests in %d s", moreRequests, seconds)
	}
	r.worksAgain()
}

func (r *Run) connect(dial func(ctx context.Context, network, address string) (net.Conn, error), opts ...framework.Option) *framework.Client {
	client, err := framework.NewClient("zktest:2181", append([]framework.Option{
		framework.WithDialer(dial), framework.WithSessionTimeout(SessionTimeout),
		framework.WithConnectionTimeout(ConnectTimeout), framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)),
	}, opts...)...)
	if err != nil {
		r.T.Fatal(err)
	}
	r.clients++
	r.journal.Attach(client, fmt.Sprintf("client %d", r.clients))
	return client
}

// Arm begins to spoil frames.
func (r *Run) Arm() {
	until := time.Now().Add(SpoilTime)
	if r.change != nil {
		r.by.Set(r.change)
		return
	}
	r.by.Set(func(kind string, frame []byte) []byte {
		switch {
		case r.owes:
			r.owes = false
			return r.spoil(frame)
		case kind != r.kind, r.struck > 0 && !r.part.All, time.Now().After(until):
			return WithLength(frame)
		case r.skipped < r.part.Skip:
			r.skipped++
			return WithLength(frame)
		}
		spoiled := r.spoil(slices.Clone(frame))
		if !bytes.Equal(spoiled, WithLength(frame)) {
			r.struck++
			r.owes = r.malformation.Pairs
		}
		return spoiled
	})
}

// RecoverBy replaces the story's Recover.
func (r *Run) RecoverBy(again func(ctx context.Context, r *Run) error) { r.recover = again }

// Bounded calls f with a context that ends after d, and notes a hang if f takes longer. It returns f's error.
func (r *Run) Bounded(what string, d time.Duration, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(r.T.Context(), d)
	defer cancel()
	began := time.Now()
	err := f(ctx)
	if took := time.Since(began); took > d+slack {
		r.Bad(OutcomeHang, "%s took %v: %v", what, took, err)
	}
	return err
}

// worksAgain makes sure that the client does what the story is about when its server is in order again, and that then
// nothing is left of what it did before.
func (r *Run) worksAgain() {
	ctx, cancel := context.WithTimeout(r.T.Context(), patience)
	defer cancel()
	err := r.recover(ctx, r)
	for session.Outage(err) && ctx.Err() == nil {
		err = r.recover(ctx, r)
	}
	if err != nil {
		r.Bad(OutcomeLocked, "%v", err)
		return
	}
	time.Sleep(SessionTimeout) // removals that were not confirmed are asked for again
	synctest.Wait()
	var nodes []string
	for _, s := range r.Server.Sessions() {
		nodes = append(nodes, s.Ephemerals...)
	}
	if watches := r.Server.WatchCount(); len(nodes) > 0 || watches > 0 {
		r.Bad(OutcomeLeak, "nodes %q and %d watches while the clients live", nodes, watches)
	}
}

// end closes the clients and looks what is left.
func (r *Run) end() {
	began := time.Now()
	err := r.Client.Close()
	if took := time.Since(began); took > 2*slack {
		r.Bad(OutcomeHang, "Close took %v: %v", took, err)
	}
	if err := r.Honest.Close(); err != nil {
		r.T.Error(err)
	}
	time.Sleep(2 * SessionTimeout) // sessions that were not closed end, and what was kept for a moment goes
	synctest.Wait()
	left := journaltest.Left(r.journal.Events())
	if sessions := r.Server.Sessions(); len(left) > 0 || len(sessions) > 0 {
		r.Bad(OutcomeLeak, "%q, sessions %v", left, sessions)
	}
	if r.story.Left != nil {
		if left := r.story.Left(r); left != "" {
			r.Bad(OutcomeLeak, "%s", left)
		}
	}
}

// panics hears of panics that the client survives: it logs nothing else at Error.
type panics struct{ run *Run }

func (panics) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }
func (p panics) WithAttrs([]slog.Attr) slog.Handler             { return p }
func (p panics) WithGroup(string) slog.Handler                  { return p }

func (p panics) Handle(_ context.Context, record slog.Record) error {
	p.run.Bad(OutcomePanic, "%s", record.Message)
	return nil
}
