package session

import (
	"time"
)

// An Owner runs a session from its opening to its end. The client is one; recipes get the [Session] alone.
type Owner struct{ session *Session }

// New makes a session. It does not connect before [Owner.Start], but can be given work.
func New(cfg Config, tell Events) *Owner { return &Owner{newSession(cfg, tell)} }

// Session returns the session.
func (o *Owner) Session() *Session { return o.session }

// Start starts connecting. It returns at once; Events tell the rest. A session that was started must be closed.
func (o *Owner) Start() error { return o.session.transport.Start() }

// Run runs the session's clock: it ends leases and the session in time, and renews them. It blocks until the session is
// over. When closing is closed, it ends the session with [ErrClosed].
func (o *Owner) Run(closing <-chan struct{}) { o.session.runClock(closing) }

// Close ends the connection, after Run, and waits until its goroutines are gone. With patience, and if there is a
// connection, it first tells the server to end the session, and waits for the answer as long as that; told reports
// whether it came. No event comes from the connection after it.
func (o *Owner) Close(patience time.Duration) (told bool) { return o.session.transport.Close(patience) }

// LastZxid is the newest transaction that the servers certainly have, as their answers have told.
func (o *Owner) LastZxid() int64 { return o.session.transport.LastZxid() }

// Adopt gives work to the session, and reports whether it took it: not if it is over.
func (o *Owner) Adopt(work Leftovers) bool { return o.session.adopt(work) }

// EndedYoung reports whether the session, which is over, did not live as long as its timeout, and the timeout that was
// granted; one second stands for a shorter one.
func (o *Owner) EndedYoung() (young bool, timeout time.Duration) { return o.session.endedYoung() }
