package records

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/recipes/locks"
)

const (
	// pending is how many lines may wait for the writer; so many calls may wait for a locks.Trace.
	pending = 1024
	// mostOpen is how many holds may last at a time. Of further ones the begin is not known.
	mostOpen = 1 << 16
)

// A Recorder writes a record for each hold of the locks that have its Trace. It never blocks a lock or a trace: a
// goroutine of its own writes, and the record after those that could not be written counts them. Of calls that
// locks.Trace drops, Close counts an acquire without its end as missing, and records a hold without its end as Open:
// see there. Close must be called.
// Its methods are safe for concurrent use.
type Recorder struct {
	root    string
	process string
	began   time.Time // the process has a clock from here on that is never set

	lines   chan line
	done    chan struct{}
	missing atomic.Int64 // records that were not written, and not counted in one that was
	// acquires is how many have begun and not ended. A locks.Trace drops calls when many wait for it, but none of
	// AcquireStart.
	acquires atomic.Int64

	mu     sync.Mutex
	open   map[hold]Record
	closed bool
	failed error // the writer's last failure
}

type hold struct {
	path, node string
	count      int64
}

// A line is what is written at once. After a failure all its records are missing.
type line struct {
	text    []byte
	records int64 // its own, and those that it counts as missing
}

// An acquire is what is known of a hold before it begins.
type acquire struct {
	began time.Time
	after string
}

type acquireKey struct{}

// NewRecorder returns a recorder that writes to w, one line in each call: a [File], for one. root is what the servers
// have before the paths of the program's locks: the chroot and the namespace, or nothing.
func NewRecorder(w io.Writer, root string) *Recorder {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	began := time.Now()
	r := &Recorder{
		root: root, process: fmt.Sprintf("%s/%d/%d/%s", host, os.Getpid(), began.UnixMilli(), rand.Text()[:6]), began: began,
		lines: make(chan line, pending), done: make(chan struct{}), open: map[hold]Record{},
	}
	go r.run(w)
	return r
}

// Trace returns the functions that record, for locks.WithTrace. Each then calls that of also, if there is one: a lock
// has one trace, and if also closes the recorder, that has the call already. A trace around this one that blocks in
// AcquireStart makes the times of the hold late by that.
func (r *Recorder) Trace(also locks.Trace) locks.Trace {
	t := also
	t.AcquireStart = func(ctx context.Context, start locks.AcquireStart) context.Context {
		began := r.now() // the wait includes the time that also takes
		r.acquires.Add(1)
		if also.AcquireStart != nil {
			ctx = also.AcquireStart(ctx, start)
		}
		return context.WithValue(ctx, acquireKey{}, &acquire{began: began})
	}
	t.Waiting = func(ctx context.Context, w locks.Waiting) {
		if a, ok := ctx.Value(acquireKey{}).(*acquire); ok && w.Predecessor != "" {
			a.after = w.Predecessor
		}
		if also.Waiting != nil {
			also.Waiting(ctx, w)
		}
	}
	t.AcquireEnd = func(ctx context.Context, end locks.AcquireEnd) {
		r.acquires.Add(-1)
		if end.Err == nil && !end.Reentered {
			r.begin(ctx, end)
		}
		if also.AcquireEnd != nil {
			also.AcquireEnd(ctx, end)
		}
	}
	t.Released = func(released locks.Released) {
		r.released(released)
		if also.Released != nil {
			also.Released(released)
		}
	}
	t.Lost = func(lost locks.Lost) {
		r.lost(lost)
		if also.Lost != nil {
			also.Lost(lost)
		}
	}
	return t
}

// now is the time by a clock that is not set meanwhile.
func (r *Recorder) now() time.Time { return r.began.Add(time.Since(r.began)).Round(0) }

func (r *Recorder) begin(ctx context.Context, end locks.AcquireEnd) {
	rec := Record{
		Node: end.Node, Session: SessionID(end.Session), Czxid: end.Token, Count: end.FencingCount, Waited: end.Waited,
		Begin: Moment{r.now(), end.Zxid},
	}
	if a, ok := ctx.Value(acquireKey{}).(*acquire); ok { // this function may be called late
		rec.Begin.Time, rec.After = a.began.Add(end.Waited), a.after
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed && len(r.open) < mostOpen {
		r.open[hold{end.Path, end.Node, end.FencingCount}] = rec
	}
}

func (r *Recorder) released(released locks.Released) {
	how := Released
	switch {
	case released.HandedOver:
		how = HandedOver
	case released.Retained:
		how = Retained
	}
	r.end(hold{released.Path, released.Node, released.FencingCount}, released.Held, released.Zxid, how, released.Err)
}

func (r *Recorder) lost(lost locks.Lost) {
	err := lost.Err
	var why *locks.LostError
	if errors.As(err, &why) {
		err = why.Reason
	}
	r.end(hold{lost.Path, lost.Node, lost.FencingCount}, lost.Held, lost.Zxid, Lost, err)
}

func (r *Recorder) end(key hold, held time.Duration, zxid int64, how How, err error) {
	r.mu.Lock()
	rec, known := r.open[key]
	delete(r.open, key)
	r.mu.Unlock()
	if !known {
		rec = Record{Node: key.node, Count: key.count, Begin: Moment{Time: r.now().Add(-held)}}
	}
	rec.End = Moment{rec.Begin.Time.Add(max(held, 0)), zxid}
	rec.How = how
	if err != nil {
		rec.Reason = err.Error()
	}
	r.write(key.path, rec)
}

// write queues a record, or counts it as missing. Close must not look at the count while a line has it.
func (r *Recorder) write(lockPath string, rec Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.encode(lockPath, rec)
	if !r.closed && l.text != nil {
		select {
		case r.lines <- l:
			return
		default:
		}
	}
	r.missing.Add(l.records)
}

// encode makes the line of a record, which also has the number of those that are missing before it.
func (r *Recorder) encode(lockPath string, rec Record) line {
	l := line{records: r.missing.Swap(0)}
	rec.Missing, rec.Process = l.records, r.process
	if rec.Node != "" {
		rec.Path = path.Join("/", r.root, lockPath)
		l.records++
	}
	text, err := json.Marshal(rec)
	if err != nil { // a year beyond 9999
		return l
	}
	text = append(text, '\n')
	l.text = text
	return l
}

func (r *Recorder) run(w io.Writer) {
	defer close(r.done)
	for l := range r.lines {
		if _, err := w.Write(l.text); err != nil {
			r.missing.Add(l.records)
			r.mu.Lock()
			r.failed = err
			r.mu.Unlock()
		}
	}
}

// Close writes a record of each hold that lasts, as [Open], and blocks until the writer has written all lines. It does
// not close the writer. Close the clients first: a hold that ends later has no other record, and an acquire that has
// not ended counts as missing. Its error says how many records are missing that no record counts, and why.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		<-r.done
		return nil
	}
	r.closed = true // no other goroutine queues lines from here on
	now := r.now()
	last := r.open
	r.open = nil
	r.mu.Unlock()
	r.missing.Add(max(0, r.acquires.Load()))
	for key, rec := range last {
		rec.End, rec.How = Moment{Time: rec.Begin.Time.Add(max(0, now.Sub(rec.Begin.Time)))}, Open
		r.lines <- r.encode(key.path, rec)
	}
	if r.missing.Load() > 0 {
		r.lines <- r.encode("", Record{})
	}
	close(r.lines)
	<-r.done
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.missing.Load(); n > 0 {
		return fmt.Errorf("records: %d records are missing: %w", n, r.failed)
	}
	return nil
}
