package overlap_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// A ledger has what a server executed, and what clients recorded.
type ledger struct {
	t       *testing.T
	server  *zktest.Server
	mu      sync.Mutex
	all     []zktest.Transaction
	records []records.Record
	written []*bytes.Buffer
	writers []*records.Recorder
}

func newLedger(t *testing.T) *ledger {
	l := &ledger{t: t, server: zktest.New(t)}
	l.server.ObserveTransactions(func(txn zktest.Transaction) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.all = append(l.all, txn)
	})
	return l
}

// A process is a client with a recorder of its own.
type process struct {
	*framework.Client
	link  *zktest.Link
	trace locks.Option
}

func (l *ledger) process() *process {
	p := &process{link: l.server.NewLink()}
	var err error
	p.Client, err = framework.NewClient("zktest:2181", framework.WithDialer(p.link.DialContext), framework.WithSessionTimeout(6*time.Second))
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = p.Close() })
	written := &bytes.Buffer{}
	r := records.NewRecorder(written, "")
	l.written, l.writers = append(l.written, written), append(l.writers, r)
	p.trace = locks.WithTrace(r.Trace(locks.Trace{}))
	time.Sleep(time.Millisecond) // the next process has another name
	return p
}

// check judges what was executed and recorded.
func (l *ledger) check(path string, limit int) (overlap.Result, string) {
	synctest.Wait()
	for i, r := range l.writers {
		if err := r.Close(); err != nil {
			l.t.Error(err)
		}
		if _, err := records.Read(l.written[i], func(rec records.Record) error { l.records = append(l.records, rec); return nil }); err != nil {
			l.t.Error(err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := history.Of(path, slices.Values(l.all), history.Options{Limit: limit})
	results := overlap.Check(h, &overlap.Files{Records: [][]records.Record{l.records}}, limit > 0)
	if len(results) != 1 {
		l.t.Fatalf("got %d locks, want one", len(results))
	}
	return results[0], overlap.Text(results, nil)
}

func TestClientsThatKeepTheRulesAreJudgedApart(t *testing.T) {
	const path = "/locks/a"
	for name, lock := range map[string]func(p *process, r *rand.Rand) locks.Lock{
		"mutex": func(p *process, _ *rand.Rand) locks.Lock { return locks.NewInterProcessMutex(p.Client, path, p.trace) },
		"retained": func(p *process, _ *rand.Rand) locks.Lock {
			return locks.NewInterProcessMutex(p.Client, path, p.trace).Retained()
		},
		"readers and writers": func(p *process, r *rand.Rand) locks.Lock {
			rw := locks.NewInterProcessReadWriteLock(p.Client, path, p.trace)
			if r.IntN(3) == 0 {
				return rw.WriteLock()
			}
			return rw.ReadLock()
		},
		"semaphore": func(p *process, _ *rand.Rand) locks.Lock {
			return locks.NewInterProcessSemaphoreV2(p.Client, path, 2, p.trace)
		},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				l := newLedger(t)
				const processes, holds = 4, 15
				var group sync.WaitGroup
				for i := range processes {
					p, r := l.process(), rand.New(rand.NewPCG(uint64(i), 1))
					p.link.SetLatency(time.Duration(r.IntN(20)) * time.Millisecond)
					group.Go(func() {
						for range holds {
							err := locks.Do(t.Context(), lock(p, r), func(context.Context) error {
								time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
								return nil
							})
							if err != nil {
								t.Error(err)
							}
						}
					})
				}
				group.Wait()
				time.Sleep(time.Minute) // retained nodes go
				limit := 0
				if name == "semaphore" {
					limit = 2
				}
				got, text := l.check(path, limit)
				if got.Holds != processes*holds || got.Verdict != overlap.Apart {
					t.Errorf("got %q of %d holds, want %q of %d:\n%s", got.Verdict, got.Holds, overlap.Apart, processes*holds, text)
				}
			})
		})
	}
}

// A client that was cut off has lost its lease by its own clock alone: no transaction says when.
func TestALossIsNotJudgedByClocks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		l := newLedger(t)
		first, second := l.process(), l.process()
		lease, err := locks.NewInterProcessMutex(first.Client, "/locks/a", first.trace).Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		first.link.Cut()
		<-lease.Done()
		mutex := locks.NewInterProcessMutex(second.Client, "/locks/a", second.trace)
		if err := locks.Do(t.Context(), mutex, func(context.Context) error { return nil }); err != nil {
			t.Fatal(err)
		}
		first.link.Heal()
		got, text := l.check("/locks/a", 0)
		if got.Verdict != overlap.Unknown || got.Holds != 2 || got.Unclear != 1 || got.Found != 0 {
			t.Errorf("got %+v, want one pair that is undecided:\n%s", got, text)
		}
	})
}

// A broken program works on after the end of its lease, and records that.
func TestAProgramThatGoesOnAfterItsLeaseIsFoundOut(t *testing.T) {
	for name, test := range map[string]struct {
		until string // when it stops
		want  overlap.Verdict
	}{
		"until the next one holds": {"held", overlap.Unknown},
		"until the next is over":   {"released", overlap.Overlapped},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				l := newLedger(t)
				broken, next := l.process(), l.process()
				var begun locks.AcquireEnd
				lease, err := locks.NewInterProcessMutex(broken.Client, "/locks/a", locks.WithTrace(locks.Trace{
					AcquireEnd: func(_ context.Context, end locks.AcquireEnd) { begun = end },
				})).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				record := records.Record{Path: "/locks/a", Node: lease.NodeName(), Process: "broken", How: records.Released}
				record.Begin.Time = time.Now()
				broken.link.Cut()
				other, err := locks.NewInterProcessMutex(next.Client, "/locks/a", next.trace).Acquire(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				broken.link.Heal()
				if test.until == "released" {
					err = other.Release()
				}
				_, existsErr := broken.Exists(t.Context(), "/") // its client has seen what was executed until now
				if err := errors.Join(err, existsErr); err != nil {
					t.Fatal(err)
				}
				session, err := broken.Session(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				record.End = records.Moment{Time: time.Now(), Zxid: session.LastZxid()}
				if test.until == "held" {
					err = other.Release()
				}
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				record.Session, record.Czxid, record.Begin.Zxid = records.SessionID(begun.Session), begun.Token, begun.Zxid
				l.records = append(l.records, record)
				got, text := l.check("/locks/a", 0)
				if got.Verdict != test.want || got.Found != 1 || got.Overlaps+got.Unclear != 1 {
					t.Errorf("got %q, %+v, want %q and that the hold lasted beyond its node:\n%s", got.Verdict, got, test.want, text)
				}
			})
		})
	}
}
