package locks_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A logBook is what a client has logged about waits, one line for each record.
type logBook struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

// waits are the records of a level about waits, without their level.
func (b *logBook) waits(level slog.Level) (records []string) {
	synctest.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	for line := range strings.Lines(b.all.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), fmt.Sprintf("level=%s msg=\"locks: ", level)); ok {
			records = append(records, text)
		}
	}
	return records
}

func (b *logBook) option() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(b, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	})))
}

func TestAWaiterLogsOnceWhereItStandsAfterASessionTimeout(t *testing.T) {
	for name, c := range map[string]struct {
		lock func(p *peer) locks.Lock
		// crowd is how many more contenders of the same client come before the waiter.
		crowd int
		want  string // of the node, the predecessor, how many are ahead, and whether that is the same client
	}{
		"mutex":  {lock: func(p *peer) locks.Lock { return p.mutex() }, want: "node=own predecessor=held ahead=1 ownClient=false"},
		"writer": {lock: func(p *peer) locks.Lock { return locks.NewInterProcessReadWriteLock(p.Client, path).WriteLock() }, want: "node=own predecessor=held ahead=1 ownClient=false"},
		"the first at a semaphore": {
			lock: func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
			want: `node=own predecessor="" ahead=1 ownClient=false`,
		},
		"the second at a semaphore": {
			lock:  func(p *peer) locks.Lock { return locks.NewInterProcessSemaphoreV2(p.Client, path, 1) },
			crowd: 1, want: "node=own predecessor=held ahead=1 ownClient=true",
		},
		"behind another goroutine, of a retained lock": {
			lock:  func(p *peer) locks.Lock { return locks.Retain(p.mutex()) },
			crowd: 1, want: `node="" predecessor="" ahead=1 ownClient=true`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				other := newPeer(t, server)
				held := acquire(t, c.lock(other))
				var book logBook
				p := newPeer(t, server, book.option())
				var before []<-chan result
				for range c.crowd {
					before = append(before, begin(t.Context(), t, c.lock(p)))
					time.Sleep(time.Second)
				}
				begun := len(book.waits(slog.LevelDebug))
				waiter := begin(t.Context(), t, c.lock(p))
				if got := book.waits(slog.LevelDebug)[begun:]; len(got) != 1 || !strings.HasPrefix(got[0], `waiting" path=`+path+" ") {
					t.Errorf("at Debug it logs %q when it begins to wait", got)
				}
				time.Sleep(sessionTimeout - time.Millisecond)
				warned := book.waits(slog.LevelWarn)
				if len(warned) != c.crowd {
					t.Errorf("a millisecond before the session timeout has passed it has logged %q", warned)
				}
				time.Sleep(time.Millisecond)
				got := book.waits(slog.LevelWarn)
				got = got[min(c.crowd, len(got)):]
				want := fmt.Sprintf(`still waiting after the session timeout" path=%s %s waited=%v`, path, c.want, sessionTimeout)
				if len(got) != 1 || placeless(got[0]) != want {
					t.Errorf("after the session timeout: got %q, want %q", got, want)
				}
				time.Sleep(100 * sessionTimeout)
				if all := book.waits(slog.LevelWarn); len(all) != 1+c.crowd {
					t.Errorf("it is logged again: %q", all)
				}
				release(t, held)
				for _, waiting := range append(before, waiter) {
					release(t, soon(t, waiting).must(t))
				}
			})
		})
	}
}

// placeless is a record with the names of nodes, which have GUIDs, replaced.
func placeless(record string) string {
	fields := strings.Split(record, " ")
	for i, field := range fields {
		switch {
		case strings.HasPrefix(field, "node=_c_"):
			fields[i] = "node=own"
		case strings.HasPrefix(field, "predecessor=_c_"):
			fields[i] = "predecessor=held"
		}
	}
	return strings.Join(fields, " ")
}

func TestAShortWaitIsNoWarning(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		held := acquire(t, newPeer(t, server).mutex())
		var book logBook
		p := newPeer(t, server, book.option())
		waiter := begin(t.Context(), t, p.mutex())
		time.Sleep(sessionTimeout - time.Millisecond)
		release(t, held)
		lease := soon(t, waiter).must(t)
		time.Sleep(10 * sessionTimeout)
		if warned := book.waits(slog.LevelWarn); len(warned) != 0 {
			t.Errorf("got %q", warned)
		}
		release(t, lease)
	})
}
