package transport

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/internal/clock"
	"github.com/gocurator/curator/framework/sasl"
)

// Config is what a Transport is made of. All fields but SASL, Auth and LastZxid are needed.
type Config struct {
	// Route says which servers there are, and which is to be tried next.
	Route *Route
	// Dial opens a connection to one server. It must return when its context ends.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Secure makes a connection to one server a secure one, if it is not nil. It must return when its context ends, and
	// is not to close the connection if it fails.
	Secure func(ctx context.Context, conn net.Conn, server string) (net.Conn, error)
	// SessionTimeout is asked for, unless a server has granted less; the server may grant another.
	SessionTimeout time.Duration
	// ConnectionTimeout bounds one attempt: a dial and the handshake after it. Mostly an attempt may take less, see
	// limits.
	ConnectionTimeout time.Duration
	// SASL proves on every connection who the client is, before anything else is sent, if it is not nil.
	SASL sasl.Mechanism
	// Auth is sent next on every connection, and then Added.
	Auth []Auth
	// Added has what a server has accepted later on, across sessions; nil if there is one session only.
	Added *Authorizations
	// LastZxid is the newest transaction that the client has seen in earlier sessions. Servers that are behind refuse
	// it.
	LastZxid int64
	// MaxFrame is the length up to which an answer is believed.
	MaxFrame int
	Events   Events
	Logger   *slog.Logger
	// Clock says when frames were sent and received; nil if there is one session only.
	Clock *clock.Clock
	// Support is what the client knows of its servers, across sessions; nil if there is one session only.
	Support *Support
}

// Events are called one at a time, in the order in which things came over the wire. None may block.
type Events struct {
	// Granted: the session has this timeout since the handshake sent at sent. The connection may end before Attached.
	Granted func(timeout time.Duration, sent time.Time)
	// Attached: a server took the session.
	Attached func(Attachment)
	// Detached: the connection ended. Every call on it has been completed, with ErrBroken if need be.
	Detached func(err error)
	// Answered: a frame sent at sent was answered by servers that reach names.
	Answered func(sent, received time.Time, reach Reach)
	// Watch: a watch fired.
	Watch func(WatchEvent)
	// Expired: the servers no longer know the session. Nothing is attached again.
	Expired func()
	// Restarted: the ensemble is younger than what the client has seen, up to zxid seen. It goes on with this one, from
	// zxid found.
	Restarted func(server string, seen, found int64)
	// GaveUp: zxids of answers are not believed any more. The next server may be behind these answers.
	GaveUp func()
	// Trying: an attempt to attach begins, or has got further. It may be nil.
	Trying func(server string, stage cause.Stage)
	// Failed: an attempt to attach failed, or the server refused the client for a reason that it named.
	Failed func(server string, err error)
}

// An Attachment is an answered handshake.
type Attachment struct {
	SessionID      int64
	Timeout        time.Duration // the smallest that the session was granted
	Sent, Received time.Time     // when the handshake was sent and answered, on Config.Clock
	Server         string
}

// A WatchEvent is what the server says when a watch fires.
type WatchEvent struct {
	Type zk.EventType
	Path string
}
