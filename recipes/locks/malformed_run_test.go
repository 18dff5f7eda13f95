package locks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// When a frame is spoiled: the first one of its kind in a part of a lock's life, or all of them for twenty seconds.
const (
	whileConnecting = "connecting"
	whileAcquiring  = "acquiring"
	whileWaiting    = "waiting"
	whileHolding    = "holding"
	always          = "always"
)

// spoiled are the kinds of frames that there are at a time.
var spoiled = map[string][]string{
	whileConnecting: {frameHandshake},
	whileAcquiring:  {frameCreate, frameListing, frameDelete},
	whileWaiting:    {frameGet, frameEvent, frameListing},
	whileHolding:    {frameGet, frameSync, framePing, frameEvent},
	always:          {frameCreate, frameListing, frameGet, frameEvent, frameSync, frameDelete, framePing, frameHandshake},
}

// What must never come of a frame, whatever stands in it. A panic ends the test by itself.
const (
	outcomeFine   = "fine"
	outcomeHang   = "hang past a context"
	outcomeGrant  = "grant beside a holder"
	outcomeHot    = "hot loop"
	outcomeLocked = "lock-out"
	outcomeLeak   = "leak"
)

// The bounds of the test: what an acquire may take, and what a client may send. A client that fails again and again
// sends about ten requests, and dials once, a second.
const (
	spoilTime      = 20 * time.Second
	connectTimeout = 5 * time.Second
	slack          = time.Second
	requestsASec   = 25
	dialsASec      = 3
	firstRequests  = 150
	firstDials     = 30
)

// TestMalformedFramesDoNoHarm spoils one frame after the other that a client with a lock gets from its server. It
// prints the counts by outcome:
//
//	go test ./recipes/locks -run TestMalformedFramesDoNoHarm -v
func TestMalformedFramesDoNoHarm(t *testing.T) {
	counts, idle := map[string]int{}, 0
	for _, when := range slices.Sorted(maps.Keys(spoiled)) {
		for _, kind := range spoiled[when] {
			for _, m := range malformations(kind) {
				name := fmt.Sprintf("%s, %s %s", when, kind, m.name)
				run := spoilRun{when: when, kind: kind, malformation: m, spoil: m.spoil()}
				run.named(t, name)
				if run.struck == 0 {
					idle++
					continue
				}
				counts["inputs"]++
				if len(run.outcomes) == 0 {
					counts[outcomeFine]++
				}
				for outcome, why := range run.outcomes {
					counts[outcome]++
					t.Errorf("%s: %s: %s", name, outcome, why)
				}
			}
		}
	}
	t.Logf("%d malformed inputs: %d panics, %d lock-outs, %d hot loops, %d hangs past a context, %d grants beside a holder, %d leaks; %d fine",
		counts["inputs"], 0, counts[outcomeLocked], counts[outcomeHot], counts[outcomeHang], counts[outcomeGrant], counts[outcomeLeak],
		counts[outcomeFine])
	if counts["inputs"] < 300 {
		t.Errorf("%d inputs came to the client, %d did not", counts["inputs"], idle)
	}
}

// A spoilRun is the life of a lock with one malformation in it.
type spoilRun struct {
	when, kind   string
	malformation malformation
	spoil        func([]byte) []byte
	owes         bool   // the malformation takes one more frame, of any kind
	spoilAll     change // instead of the malformation

	t      *testing.T
	server *zktest.Server
	by     *tamperer
	client *framework.Client
	honest *peer
	struck int // frames that were spoiled

	outcomes map[string]string
}

// named plays the case in a bubble. If that hangs, it panics with the name of the case.
func (r *spoilRun) named(t *testing.T, name string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("%s: %v", name, p))
		}
	}()
	zktest.Bubble(t, r.play)
}

func (r *spoilRun) bad(outcome, format string, args ...any) {
	if r.outcomes == nil {
		r.outcomes = map[string]string{}
	}
	r.outcomes[outcome] = fmt.Sprintf(format, args...)
}

func (r *spoilRun) play(t *testing.T) {
	r.t = t
	r.server = zktest.New(t)
	r.honest = newPeer(t, r.server)
	link := r.server.NewLink()
	link.SetLatency(time.Millisecond) // or a loop would stop the clock
	r.by = newTamperer(link.DialContext)
	if r.when == whileConnecting {
		r.arm()
	}
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(r.by.DialContext),
		framework.WithSessionTimeout(sessionTimeout), framework.WithConnectionTimeout(connectTimeout),
		framework.WithRetryPolicy(retry.NTimes(5, 10*time.Millisecond)))
	if err != nil {
		t.Fatal(err)
	}
	r.client = client
	defer r.close()
	if r.when != whileConnecting {
		if err := client.BlockUntilConnected(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	dials, requests := r.by.sent()
	r.live()
	r.by.set(nil)
	seconds := int(time.Since(began)/time.Second) + 1
	moreDials, moreRequests := r.by.sent()
	if moreDials -= dials; moreDials > firstDials+dialsASec*seconds {
		r.bad(outcomeHot, "%d dials in %d s", moreDials, seconds)
	}
	if moreRequests -= requests; moreRequests > firstRequests+requestsASec*seconds {
		r.bad(outcomeHot, "%d requests in %d s", moreRequests, seconds)
	}
	r.recover()
}

// live goes through the part of the lock's life that the case is about.
func (r *spoilRun) live() {
	switch r.when {
	case whileConnecting, whileAcquiring:
		if r.when == whileAcquiring {
			r.arm()
		}
		if lease := r.acquire(spoilTime); lease != nil {
			r.release(lease)
		}
	case whileWaiting, always:
		r.wait()
	case whileHolding:
		r.hold()
	}
}

// wait waits behind another client's lock, which is changed, and released after half of the time.
func (r *spoilRun) wait() {
	held := acquire(r.t, r.honest.mutex())
	results := make(chan *locks.Lease, 1)
	if r.when == always {
		r.arm()
	}
	go func() { results <- r.acquire(spoilTime) }()
	time.Sleep(time.Second)
	if r.when == whileWaiting {
		r.arm()
		r.stir(held.NodeName())
	}
	time.Sleep(spoilTime/2 - time.Second)
	select {
	case lease := <-results:
		if lease != nil {
			r.bad(outcomeGrant, "%s beside %s", lease.NodeName(), held.NodeName())
			r.release(lease)
		}
		release(r.t, held)
		return
	default:
	}
	release(r.t, held)
	if lease := <-results; lease != nil {
		r.release(lease)
	}
}

// hold keeps the lock for longer than a session lasts without renewal.
func (r *spoilRun) hold() {
	lease := r.acquire(spoilTime)
	if lease == nil {
		r.t.Fatal("got no lease, want one")
	}
	r.arm()
	time.Sleep(time.Second)
	r.stir(lease.NodeName())
	time.Sleep(spoilTime)
	r.release(lease)
}

// stir changes a node, so that there are events and reads.
func (r *spoilRun) stir(node string) {
	if _, err := r.honest.Set(r.t.Context(), path+"/"+node, []byte("changed"), -1); err != nil {
		r.t.Log(err) // the case has removed it
	}
}

// arm begins to spoil frames.
func (r *spoilRun) arm() {
	until := time.Now().Add(spoilTime)
	if r.spoilAll != nil {
		r.by.set(r.spoilAll)
		return
	}
	r.by.set(func(kind string, frame []byte) []byte {
		switch {
		case r.owes:
			r.owes = false
		case kind != r.kind, r.struck > 0 && r.when != always, time.Now().After(until):
			return withLength(frame)
		default:
			r.struck++
			r.owes = r.malformation.pairs
		}
		return r.spoil(frame)
	})
}

// acquire returns nil if there is no lease.
func (r *spoilRun) acquire(d time.Duration) *locks.Lease {
	ctx, cancel := context.WithTimeout(r.t.Context(), d)
	defer cancel()
	began := time.Now()
	lease, err := locks.NewInterProcessMutex(r.client, path).Acquire(ctx)
	if took := time.Since(began); took > d+slack {
		r.bad(outcomeHang, "Acquire took %v: %v", took, err)
	}
	if err != nil {
		return nil
	}
	return lease
}

func (r *spoilRun) release(lease *locks.Lease) {
	began := time.Now()
	err := lease.Release()
	if took := time.Since(began); took > connectTimeout+slack {
		r.bad(outcomeHang, "Release took %v: %v", took, err)
	}
}

// recover makes sure that the client gets the lock when its server is in order again.
func (r *spoilRun) recover() {
	const patience = 2 * time.Minute
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		lease, err := locks.NewInterProcessMutex(r.client, path).Acquire(ctx)
		if err == nil {
			r.release(lease)
			return
		}
		var unreachable *framework.ConnectError
		if !errors.As(err, &unreachable) {
			r.bad(outcomeLocked, "%v", err)
			return
		}
	}
	r.bad(outcomeLocked, "no lock within %v", patience)
}

// close ends the clients and looks what is left.
func (r *spoilRun) close() {
	began := time.Now()
	err := r.client.Close()
	if took := time.Since(began); took > 2*slack {
		r.bad(outcomeHang, "Close took %v: %v", took, err)
	}
	if err := r.honest.Close(); err != nil {
		r.t.Error(err)
	}
	time.Sleep(2 * sessionTimeout) // sessions that were not closed end, and what was kept for a moment goes
	synctest.Wait()
	left := slices.DeleteFunc(r.server.Children(path), func(name string) bool { return !strings.Contains(name, "lock-") })
	if len(left) > 0 || len(r.server.Sessions()) > 0 {
		r.bad(outcomeLeak, "nodes %q, sessions %v", left, r.server.Sessions())
	}
}
