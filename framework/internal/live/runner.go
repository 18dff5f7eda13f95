package live

import (
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Runner runs a session: it applies what happens to the connection, and watches the clock. The client is one; recipes
// get the [Session] alone.
type Runner struct {
	*sender
	session  *Session
	validity *validity
	watching *watching
	removals *removals
	orphans  *orphans
	// The servers take the client: the chroot is there, and authentication was not refused. Guarded by the mutex.
	proven bool
}

// New makes a session. It can be given work before [Runner.Start].
func New(cfg Config, tell Events) *Runner {
	s := newSession(cfg, tell)
	o := &Runner{
		sender: &s.sender, session: s, validity: &s.validity, watching: &s.watching, removals: &s.removals, orphans: &s.orphans,
	}
	cfg.Transport.Events = o.events()
	o.transport = transport.New(cfg.Transport)
	o.orphans.adopt(cfg.Carried)
	return o
}

// Session returns the session.
func (o *Runner) Session() *Session { return o.session }

// Start starts connecting, and does not block; Events report the rest. A started session must be closed.
func (o *Runner) Start() error { return o.transport.Start() }

// Run ends leases and the session in time, and renews them. It blocks until the session is over. When closing is
// closed, it ends the session with [session.ErrClosed].
func (o *Runner) Run(closing <-chan struct{}) { o.runClock(closing) }

// Close ends the connection, after Run, and waits until its goroutines are gone. If there is a connection, it first
// asks the server to end the session, and waits for the answer for at most patience; answered reports whether it came.
// No event comes from the connection after it.
func (o *Runner) Close(patience time.Duration) (answered bool) {
	answered = o.transport.Close(patience)
	o.watching.trees.done.Wait()
	return answered
}

// LastZxid is the newest transaction that an answer has shown.
func (o *Runner) LastZxid() int64 { return o.transport.LastZxid() }

// Adopt gives work to the session, and reports whether it took it: if it is not over.
func (o *Runner) Adopt(work Backlog) bool { return o.orphans.adopt(work) }
