package live_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// questioned is a client's environment that counts the client's connections, and the watches of trees that each server
// was asked for on them.
type questioned struct {
	*env
	servers []*zktest.Server
	addrs   []string
	old     map[string]bool // by address: does not know watches of trees
	mu      sync.Mutex
	target  string          // the one address that takes connections; "" is all
	full    bool            // no server takes any
	stuck   <-chan struct{} // what the next dial waits for, whatever its context
	dialed  []string        // the addresses
	asked   []zktest.Request
}

// newQuestioned connects a client to an ensemble of n servers, to the first one if there are more.
func newQuestioned(t *testing.T, n int, opts ...zktest.Option) *questioned {
	ensemble := zktest.NewEnsemble(n, opts...)
	t.Cleanup(func() { ensemble.Close() })
	q := &questioned{addrs: ensemble.Addrs(), target: ensemble.Addrs()[0], old: map[string]bool{}}
	q.env = &env{&clienttest.Env{T: t, Server: ensemble.Server(0), Link: ensemble.NewLink(), States: &clienttest.States{}}}
	for i := range q.addrs {
		q.servers = append(q.servers, ensemble.Server(i))
		t.Cleanup(ensemble.Server(i).Observe(func(r zktest.Request) {
			if r.Op == zktest.OpAddWatch {
				q.mu.Lock()
				defer q.mu.Unlock()
				q.asked = append(q.asked, r)
			}
		}))
	}
	q.Client = q.Dial(strings.Join(q.addrs, ","), framework.WithDialer(q.dial), framework.WithStateListener(q.States.Hear))
	q.Connected()
	return q
}

func (q *questioned) dial(ctx context.Context, network, address string) (net.Conn, error) {
	q.mu.Lock()
	refused := q.full || q.target != "" && q.target != address
	if !refused || q.full {
		q.dialed = append(q.dialed, address)
	}
	stuck := q.stuck
	q.stuck = nil
	q.mu.Unlock()
	if stuck != nil {
		<-stuck
	}
	if refused {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := q.Link.DialContext(ctx, network, address)
	if err != nil || !q.old[address] {
		return conn, err
	}
	return &framed{Conn: conn, answer: func(frame []byte) []byte { return frame }, request: func(op zktest.Op, frame []byte) bool {
		if op == zktest.OpAddWatch {
			binary.BigEndian.PutUint32(frame[8:], 99) // a request that no server knows
		}
		return true
	}}, nil
}

// move has the client go on at another server.
func (q *questioned) move(to int) {
	q.Helper()
	q.mu.Lock()
	q.target = q.addrs[to]
	q.mu.Unlock()
	q.Link.Reset()
	q.Eventually("moved", func() bool { return q.Client.Server() == q.addrs[to] })
}

func (q *questioned) setFull(full bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.full = full
}

func (q *questioned) dials() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.dialed)
}

// questions counts the watches that the servers were asked for by another session than the client's.
func (q *questioned) questions() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for _, r := range q.asked {
		if r.Path == inQuestion {
			n++
		}
	}
	return n
}

func (q *questioned) wantQuestions(want int) {
	q.Helper()
	if got := q.questions(); got != want {
		q.Errorf("got %d questions whether a server watches trees, want %d", got, want)
	}
}

// inQuestion is the node on which a question sets a watch.
const inQuestion = "/zookeeper/config"

var theQuestion = zktest.Match{Op: zktest.OpAddWatch, Path: inQuestion}

// A lease is held, on a server that closes connections on watches of trees, with and without an answer.
func TestAServerWithoutTreeWatchesIsFoundOutBesideTheSessionsConnection(t *testing.T) {
	for name, test := range map[string]struct {
		server    zktest.Option
		questions int
	}{
		"3.4.14": {zktest.WithVersion("3.4.14"), 1}, "3.5": {zktest.WithVersion("3.5"), 1}, "Keeper": {zktest.WithKeeper("24.8"), 2},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				q := newQuestioned(t, 1, test.server)
				q.Make("/t")
				data := q.watchData("/t")
				b := q.Bind()
				session := q.Session()
				l, other := &listener{}, &listener{}
				q.Link.SetLatency(time.Millisecond) // both are asked for before the answer
				for path, o := range map[string]*listener{"/t": l, "/u": other} {
					must(t, q.Session().WatchTree(path, o))
				}
				time.Sleep(time.Second)
				q.Link.SetLatency(0)
				time.Sleep(time.Minute)
				for _, o := range []*listener{l, other} {
					o.want(t, "refused")
					wantErr(t, o.err, framework.ErrUnsupported)
				}
				wantErr(t, session.WatchTree("/t", l), framework.ErrUnsupported)
				q.change("/t")
				if synctest.Wait(); data.view().Stat.Version != 1 {
					t.Errorf("got view %+v, want version 1", data.view())
				}
				if b.Ended() {
					t.Errorf("a lease ended: %v", b.Cause)
				}
				q.States.Want(t, framework.StateConnected)
				if got, want := q.dials(), 1+test.questions; got != want {
					t.Errorf("got %d connections, want the session's and %d for questions", got, test.questions)
				}
				if got := q.Server.Connections(); got != 1 {
					t.Errorf("got %d connections open, want the session's", got)
				}
				if got := len(q.Server.Sessions()); got != 1 {
					t.Errorf("got %d sessions, want the client's alone", got)
				}
				data.stop()
				q.wantWatches(0)
				wantErr(t, q.Client.Close())
			})
		})
	}
}

// Reconnections, trees and sessions later, the server is still known.
func TestAServerIsAskedOnceWhetherItWatchesTrees(t *testing.T) {
	for _, version := range []string{"3.6", "3.9.5"} {
		t.Run(version, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				q := newQuestioned(t, 1, zktest.WithVersion(version))
				first := q.watchTree("/t")
				first.want(t, "watching")
				q.watchTree("/u").want(t, "watching")
				q.move(0)
				first.want(t, "lost", "watching")
				q.Server.ExpireSession(q.Session().ID())
				q.Eventually("another session", func() bool { return q.Client.State() == framework.StateReconnected && len(q.Server.Sessions()) == 1 })
				synctest.Wait()
				q.watchTree("/t").want(t, "watching")
				q.wantQuestions(1)
				q.wantWatches(1)
			})
		})
	}
}

func TestASessionThatMovesToAnOlderServerKeepsItsConnectionThere(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 2)
		q.old[q.addrs[1]] = true
		b := q.Bind()
		l := q.watchTree("/t")
		l.want(t, "watching")
		q.move(1)
		time.Sleep(time.Minute)
		l.want(t, "lost", "refused")
		wantErr(t, l.err, framework.ErrUnsupported)
		if b.Ended() {
			t.Errorf("a lease ended: %v", b.Cause)
		}
		q.States.Want(t, framework.StateConnected, framework.StateSuspended, framework.StateReconnected)
		wantErr(t, q.Session().WatchTree("/t", l), framework.ErrUnsupported)
		q.move(0) // each server is judged by itself
		q.watchTree("/t").want(t, "watching")
		if got, want := q.dials(), 5; got != want {
			t.Errorf("got %d connections, want %d: three of the session, and a question at each server", got, want)
		}
	})
}

func TestASessionThatMovesToANewerServerWatchesTreesThere(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 2)
		q.old[q.addrs[0]] = true
		l := q.watchTree("/t")
		l.want(t, "refused")
		q.move(1)
		q.watchTree("/t").want(t, "watching")
		q.States.Want(t, framework.StateConnected, framework.StateSuspended, framework.StateReconnected)
	})
}

// The server takes no second connection. Meanwhile a watch on the tree's root is the node's own.
func TestAServerThatCannotBeAskedIsAskedAgainWhileTheConnectionLasts(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		q.Make("/t")
		b := q.Bind()
		data := q.watchData("/t")
		q.setFull(true)
		l := q.watchTree("/t")
		before := q.dials()
		time.Sleep(10 * time.Second)
		l.want(t)
		if got := q.dials() - before; got < 5 || got > 30 {
			t.Errorf("got %d tries in ten seconds, want about one a second", got)
		}
		q.change("/t")
		if synctest.Wait(); data.view().Stat.Version != 1 || !data.view().Current {
			t.Errorf("got view %+v, want version 1 and the watch set", data.view())
		}
		q.setFull(false)
		time.Sleep(2 * time.Second)
		l.want(t, "watching")
		q.change("/t")
		l.want(t, "=/t")
		if got := data.view(); got.Stat.Version != 2 || !got.Current {
			t.Errorf("got view %+v, want version 2 and the watch set", got)
		}
		q.setFull(true)
		if b.Ended() {
			t.Errorf("a lease ended: %v", b.Cause)
		}
		q.States.Want(t, framework.StateConnected)
		q.wantQuestions(1)
	})
}

// A tree does not wait for ever: its observer can do without. One that comes when the server can be asked is watched.
func TestATreeIsRefusedAfterTheConnectionTimeoutIfTheServerCannotBeAsked(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		q.Make("/t")
		q.setFull(true)
		l := q.watchTree("/t")
		time.Sleep(time.Minute)
		l.want(t, "refused")
		if !errors.Is(l.err, session.ErrUnsupported) {
			t.Errorf("refused with %v, want %v", l.err, session.ErrUnsupported)
		}
		q.setFull(false)
		q.watchTree("/t").want(t, "watching")
		q.States.Want(t, framework.StateConnected)
	})
}

// The connection of a question lasts until its session expires. That is no answer.
func TestAServerThatLosesItsAnswerIsAskedAgain(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		for i := range 3 {
			q.Server.SwallowReply(zktest.Match{Op: theQuestion.Op, Path: theQuestion.Path, Nth: i + 1})
		}
		l := q.watchTree("/t")
		time.Sleep(time.Minute)
		l.want(t, "watching")
		q.wantQuestions(4)
		q.States.Want(t, framework.StateConnected)
	})
}

// A question takes more round trips than an attempt to connect, whose time the servers of a list share.
func TestAServerThatIsFarAwayIsAskedOnce(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 5)
		q.Link.SetLatency(300 * time.Millisecond)
		l := q.watchTree("/t")
		time.Sleep(10 * time.Second)
		l.want(t, "watching")
		if got := q.dials(); got != 2 {
			t.Errorf("got %d connections, want the session's and the question's", got)
		}
	})
}

// The end of a question's session takes a majority of the servers. The tree waits for that no longer than a second.
func TestATreeDoesNotWaitForTheEndOfAQuestionsSession(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		defer q.Server.HoldRequest(zktest.Match{Op: zktest.OpCloseSession})()
		l := q.watchTree("/t")
		time.Sleep(time.Second)
		l.want(t, "watching")
	})
}

func TestATreeThatHasEndedIsNotAskedAbout(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		q.setFull(true)
		l := q.watchTree("/t")
		time.Sleep(10 * time.Second)
		q.Session().UnwatchTree("/t", l)
		time.Sleep(2 * time.Second)
		before := q.dials()
		time.Sleep(time.Minute)
		if got := q.dials() - before; got != 0 {
			t.Errorf("got %d tries after the tree has ended, want none", got)
		}
		l.want(t)
	})
}

// It takes the watch in the question, and closes the session's connection on it: once, or each time.
func TestAServerThatClosesTheConnectionOnATreeAllTheSameIsAskedAgain(t *testing.T) {
	for name, test := range map[string]struct {
		drops, questions int
		heard            []string
	}{
		"once": {1, 2, []string{"watching"}}, "each time": {100, 0, []string{"refused"}},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				q := newQuestioned(t, 1)
				for i := range test.drops {
					q.Server.DropRequest(zktest.Match{Op: zktest.OpAddWatch, Path: "/t", Nth: i + 1})
				}
				l := q.watchTree("/t")
				time.Sleep(time.Minute)
				l.want(t, test.heard...)
				if test.questions > 0 {
					q.wantQuestions(test.questions)
				}
				if got := q.dials(); got > 20 {
					t.Errorf("got %d connections, want few", got)
				}
				q.watchTree("/u").want(t, "watching")
			})
		})
	}
}

// Its dialer does not heed its context: the goroutine that asks gives it up after a moment, and Close waits for that.
func TestCloseWaitsForTheGoroutineThatAsks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		over := make(chan struct{})
		defer close(over)
		q.mu.Lock()
		q.stuck = over
		q.mu.Unlock()
		l := q.watchTree("/t")
		before := time.Now()
		if err := q.Client.Close(); err != nil || time.Since(before) != 100*time.Millisecond {
			t.Errorf("got %v after %v, want the end of the session, and of the goroutine after 100ms", err, time.Since(before))
		}
		l.want(t)
	})
}

// The question is not asked again, so this costs a connection.
func TestAServerThatIsReplacedByAnOlderOneRefusesTrees(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		q := newQuestioned(t, 1)
		l := q.watchTree("/t")
		l.want(t, "watching")
		q.old[q.addrs[0]] = true
		q.move(0)
		time.Sleep(time.Minute)
		l.want(t, "lost", "refused")
		wantErr(t, l.err, framework.ErrUnsupported)
		wantErr(t, q.Session().WatchTree("/t", l), framework.ErrUnsupported)
		if got := q.dials(); got != 4 {
			t.Errorf("got %d connections, want 4: the first one, the question's, that to the older server, and the next", got)
		}
	})
}
