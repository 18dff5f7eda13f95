package records_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const lockPath = "/locks/a"

func connect(t *testing.T, link *zktest.Link, options ...framework.Option) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("zktest:2181", append(options, framework.WithDialer(link.DialContext))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

func acquire(t *testing.T, lock locks.Lock) *locks.Lease {
	t.Helper()
	lease, err := lock.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func release(t *testing.T, lease *locks.Lease) {
	t.Helper()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
}

// finish closes a recorder, and returns what it wrote.
func finish(t *testing.T, r *records.Recorder, written *bytes.Buffer) (all []records.Record) {
	t.Helper()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	report, err := records.Read(written, func(rec records.Record) error { all = append(all, rec); return nil })
	if err != nil || report.Broken > 0 || report.Torn {
		t.Errorf("got %+v, %v, want all lines read", report, err)
	}
	return all
}

func TestEachHoldHasOneRecord(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		first, second := connect(t, server.NewLink(), framework.WithNamespace("app")), connect(t, server.NewLink(), framework.WithNamespace("app"))
		var written bytes.Buffer
		r := records.NewRecorder(&written, "/app")
		var ended atomic.Int64
		trace := locks.WithTrace(r.Trace(locks.Trace{AcquireEnd: func(context.Context, locks.AcquireEnd) { ended.Add(1) }}))
		holder := acquire(t, locks.NewInterProcessMutex(first, lockPath, trace))
		begun := time.Now()
		go func() {
			time.Sleep(3 * time.Second)
			release(t, holder)
		}()
		next := acquire(t, locks.NewInterProcessMutex(second, lockPath, trace))
		time.Sleep(5 * time.Second)
		if err := server.Delete("/app" + lockPath + "/" + next.NodeName()); err != nil {
			t.Fatal(err)
		}
		<-next.Done()
		last := acquire(t, locks.NewInterProcessMutex(first, lockPath, trace))
		synctest.Wait()
		all := finish(t, r, &written)
		release(t, last)
		if len(all) != 3 || ended.Load() != 3 {
			t.Fatalf("got %d records and %d calls of the other trace, want 3 of each: %+v", len(all), ended.Load(), all)
		}
		session, err := second.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := all[1]
		if got.Begin.Zxid < got.Czxid || got.End.Zxid < got.Begin.Zxid || got.Process == "" || !got.Begin.Time.Equal(begun.Add(3*time.Second)) ||
			!got.End.Time.Equal(begun.Add(8*time.Second)) {
			t.Errorf("got %+v, want 5 seconds from %v on, and zxids from the token on", got, begun.Add(3*time.Second))
		}
		want := records.Record{
			Path: "/app" + lockPath, Node: next.NodeName(), Session: records.SessionID(session.ID()), Czxid: next.FencingToken(),
			After: holder.NodeName(), Waited: 3 * time.Second, How: records.Lost, Reason: locks.ErrRemoved.Error(),
			Begin: got.Begin, End: got.End, Process: got.Process,
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if all[0].How != records.Released || all[0].After != "" || all[2].How != records.Open || all[2].Node != last.NodeName() {
			t.Errorf("got %+v and %+v, want a release without a wait, and a hold that lasts", all[0], all[2])
		}
	})
}

func TestHoldsOfOneRetainedNodeAreRecordsOfTheirOwn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		var written bytes.Buffer
		r := records.NewRecorder(&written, "")
		mutex := locks.NewInterProcessMutex(connect(t, server.NewLink()), lockPath, locks.WithTrace(r.Trace(locks.Trace{}))).Retained()
		holder := acquire(t, mutex)
		next := make(chan *locks.Lease)
		go func() {
			lease, err := mutex.Acquire(t.Context())
			if err != nil {
				t.Error(err)
			}
			next <- lease
		}()
		time.Sleep(time.Second)
		release(t, holder)
		release(t, <-next)
		synctest.Wait()
		all := finish(t, r, &written)
		if len(all) != 2 || all[0].How != records.HandedOver || all[1].How != records.Released || all[0].Node != all[1].Node || all[0].Count != 0 || all[1].Count != 1 {
			t.Errorf("got %+v, want two records of one node", all)
		}
	})
}

// Only the first lease of an AcquireN is reported when it begins.
func TestALeaseWithoutARecordedBeginIsRecordedAtItsEnd(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		var written bytes.Buffer
		r := records.NewRecorder(&written, "")
		semaphore := locks.NewInterProcessSemaphoreV2(connect(t, server.NewLink()), lockPath, 2, locks.WithTrace(r.Trace(locks.Trace{})))
		leases, err := semaphore.AcquireN(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := locks.ReleaseAll(leases...); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		all := finish(t, r, &written)
		if len(all) != 2 || all[0].Node != leases[1].NodeName() || all[0].Czxid != 0 || all[1].Czxid == 0 ||
			all[0].End.Time.Sub(all[0].Begin.Time) != time.Second {
			t.Errorf("got %+v, want a record of each, of the second without its token", all)
		}
	})
}

// A gate is a writer that waits until it is open, and may fail.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	err  error
	bytes.Buffer
}

func (g *gate) Write(text []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.err; err != nil {
		g.err = nil
		return 0, err
	}
	return g.Buffer.Write(text)
}

func TestAWriterThatHangsBlocksNothingAndTheLossIsCounted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const holds = 1500
		w := &gate{open: make(chan struct{})}
		r := records.NewRecorder(w, "")
		trace := r.Trace(locks.Trace{})
		for i := range holds {
			trace.Released(locks.Released{Path: lockPath, Node: "node", FencingCount: int64(i)})
		}
		close(w.open)
		synctest.Wait() // all that waited is written
		trace.Released(locks.Released{Path: lockPath, Node: "node", FencingCount: holds})
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		report, err := records.Read(&w.Buffer, func(records.Record) error { return nil })
		if err != nil || report.Records < 1024 || int64(report.Records)+report.Missing != holds+1 {
			t.Errorf("got %+v, %v, want %d records, written or counted as missing", report, err, holds+1)
		}
	})
}

func TestAFailedWriteIsCountedInTheNextRecordOrReportedByClose(t *testing.T) {
	for _, later := range []int{0, 1} {
		zktest.Bubble(t, func(t *testing.T) {
			full := errors.New("no space left")
			w := &gate{open: make(chan struct{}), err: full}
			close(w.open)
			r := records.NewRecorder(w, "")
			trace := r.Trace(locks.Trace{})
			trace.Released(locks.Released{Path: lockPath, Node: "first"})
			synctest.Wait()
			if later == 0 {
				w.mu.Lock()
				w.err = full
				w.mu.Unlock()
			} else {
				trace.Released(locks.Released{Path: lockPath, Node: "second"})
			}
			err := r.Close()
			report, _ := records.Read(&w.Buffer, func(records.Record) error { return nil })
			if (err == nil) != (later == 1) || err != nil && !errors.Is(err, full) || report.Missing != int64(later) || report.Records != later {
				t.Errorf("%d records later: got %+v and %v", later, report, err)
			}
		})
	}
}

func TestCloseEndsOnceAndCallsAfterItAreHarmless(t *testing.T) {
	var written bytes.Buffer
	r := records.NewRecorder(&written, "")
	trace := r.Trace(locks.Trace{})
	trace.AcquireEnd(t.Context(), locks.AcquireEnd{Path: lockPath, Node: "again", Reentered: true})
	trace.AcquireEnd(t.Context(), locks.AcquireEnd{Path: lockPath, Err: errors.New("refused")})
	for range 2 {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	trace.Lost(locks.Lost{Path: lockPath, Node: "late"})
	trace.AcquireEnd(t.Context(), locks.AcquireEnd{Path: lockPath, Node: "late"})
	if written.Len() > 0 {
		t.Errorf("got %q, want nothing: neither a re-entry nor a failure is a hold", written.String())
	}
}

// A counted writer signals after each line.
type counted struct {
	io.Writer
	bytes   atomic.Int64
	written chan struct{}
}

func (c *counted) Write(text []byte) (int, error) {
	c.bytes.Add(int64(len(text)))
	c.written <- struct{}{}
	return c.Writer.Write(text)
}

// What a hold costs beside its lock: the calls of the trace and the writer's. AcquireStart alone is on the goroutine
// of Acquire.
func BenchmarkHold(b *testing.B) {
	file, err := records.OpenFile(b.TempDir()+"/holds.ndjson", 64<<20)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	w := &counted{Writer: file, written: make(chan struct{}, 1024)}
	r := records.NewRecorder(w, "")
	trace := r.Trace(locks.Trace{})
	node := "_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-lock-0000000000"
	b.ReportAllocs()
	for i := range b.N {
		if i >= 512 {
			<-w.written // no record is missing
		}
		zxid := int64(i) + 1<<33
		ctx := trace.AcquireStart(b.Context(), locks.AcquireStart{Path: lockPath})
		trace.Waiting(ctx, locks.Waiting{Path: lockPath, Node: node, Predecessor: node, Ahead: 1})
		trace.AcquireEnd(ctx, locks.AcquireEnd{Path: lockPath, Node: node, Session: 0x1a1fbf0a55f0001, Token: zxid, Zxid: zxid})
		trace.Released(locks.Released{Path: lockPath, Node: node, Held: time.Millisecond, Zxid: zxid})
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(w.bytes.Load())/float64(b.N), "B/line")
}

// The part that a caller of Acquire waits for.
func BenchmarkAcquireStart(b *testing.B) {
	r := records.NewRecorder(io.Discard, "")
	trace := r.Trace(locks.Trace{})
	b.ReportAllocs()
	for range b.N {
		trace.AcquireStart(b.Context(), locks.AcquireStart{Path: lockPath})
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}

// A wait has the time in it that another trace took.
func TestAHoldBeginsAfterItsWaitWhateverAnotherTraceDoes(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var written bytes.Buffer
		r := records.NewRecorder(&written, "")
		trace := r.Trace(locks.Trace{AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context {
			time.Sleep(time.Second)
			return ctx
		}})
		begun := time.Now()
		ctx := trace.AcquireStart(t.Context(), locks.AcquireStart{Path: lockPath})
		trace.AcquireEnd(ctx, locks.AcquireEnd{Path: lockPath, Node: "n", Waited: time.Second})
		trace.Released(locks.Released{Path: lockPath, Node: "n", Held: time.Minute})
		all := finish(t, r, &written)
		if len(all) != 1 || !all[0].Begin.Time.Equal(begun.Add(time.Second)) {
			t.Errorf("got %+v, want a hold from %v on", all, begun.Add(time.Second))
		}
	})
}

func TestAnAcquireOfWhichTheEndIsNotTracedIsCountedAsMissing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var written bytes.Buffer
		r := records.NewRecorder(&written, "")
		trace := r.Trace(locks.Trace{})
		for n := range 3 {
			ctx := trace.AcquireStart(t.Context(), locks.AcquireStart{Path: lockPath})
			if n == 1 {
				trace.AcquireEnd(ctx, locks.AcquireEnd{Path: lockPath, Err: context.Canceled})
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		report, err := records.Read(&written, func(records.Record) error { return nil })
		if err != nil || report.Missing != 2 {
			t.Errorf("got %+v, %v, want two that are missing", report, err)
		}
	})
}

func TestAnotherTraceIsCalledWhenTheRecordIsKnown(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var written bytes.Buffer
		r := records.NewRecorder(&written, "")
		trace := r.Trace(locks.Trace{Released: func(locks.Released) {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}})
		trace.Released(locks.Released{Path: lockPath, Node: "n"})
		if all := finish(t, r, &written); len(all) != 1 {
			t.Errorf("got %d records, want one", len(all))
		}
	})
}
