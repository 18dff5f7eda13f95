//go:build linux

package interop_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

var demands = flag.Int("demands", 5, "how often a contender of each language comes to a retained lock")

// A keeper is a client whose lock is retained, with what it sends.
type keeper struct {
	*locks.RetainedLock
	world *world
	path  string
	link  *lockstest.Link

	mu      sync.Mutex
	dropped []locks.RetentionEnded
}

func (w *world) keeper(path, addr string, opts ...locks.RetainOption) *keeper {
	w.t.Helper()
	k := &keeper{world: w, path: path, link: lockstest.NewLink(addr, new(net.Dialer).DialContext)}
	client, err := framework.NewClient(addr, framework.WithDialer(k.link.DialContext), framework.WithSessionTimeout(time.Minute))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = client.Close() })
	k.RetainedLock = locks.NewInterProcessMutex(client, path, locks.WithTrace(locks.Trace{RetentionEnded: func(d locks.RetentionEnded) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.dropped = append(k.dropped, d)
	}})).Retained(append([]locks.RetainOption{locks.RetainIdle(time.Minute)}, opts...)...)
	return k
}

// cycle acquires and releases.
func (k *keeper) cycle() {
	k.world.t.Helper()
	if err := locks.Do(k.world.t.Context(), k, func(context.Context) error { return nil }); err != nil {
		k.world.t.Fatal(err)
	}
}

// idles has the node stay, proves that it is of use, and returns when the holder listens to others.
func (k *keeper) idles() {
	k.world.t.Helper()
	for deadline := time.Now().Add(patience); !k.stays(); k.cycle() {
		if time.Now().After(deadline) {
			await.Fatalf(k.world.t, "a node that stays (%v)", patience)
		}
	}
	k.link.Requests()
}

// stays reports whether a node is there and outlasts ten of the holder's cycles, after which its first listing has been
// answered. A machine that stalls before that has the node dropped.
func (k *keeper) stays() bool {
	k.world.t.Helper()
	before := k.world.children(k.path)
	if len(before) == 0 {
		return false
	}
	for range 10 {
		k.cycle()
	}
	if _, err := k.Participants(k.world.t.Context()); err != nil {
		k.world.t.Fatal(err)
	}
	return slices.Equal(k.world.children(k.path), before)
}

// defaultBusy is the default of locks.RetainBusy: a node is dropped unless a listing has shown by then whether others
// wait for it.
const defaultBusy = 100 * time.Millisecond

// comers are the languages whose contenders come to a retained lock.
var comers = []string{ours, java, goZK, python, earlier}

// A contender of another process finds an idle node. Its creation is an event at the holder, which lists the directory
// and removes its node; that is an event at the contender.
func TestContenderOfAnyLanguageGetsARetainedLock(t *testing.T) {
	w := newWorld(t)
	var table strings.Builder
	rows := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(rows, "each way\tcontender\tfree, p50\tp99\tidle, p50\tp99\tbusy, p50\tp99\t")
	for _, delay := range []time.Duration{0, 2 * time.Millisecond} {
		addr := delayed(t, w.addr, delay)
		for _, kind := range comers {
			t.Run(fmt.Sprintf("%s, %v each way", kind, delay), func(t *testing.T) {
				w := w.in(t)
				k := w.keeper("/retained/"+name("mutex"), addr)
				contender := w.clientIn(fleet.get(t, kind), kind, addr).contender(mutexAt(k.path))
				var free, idle, busy []time.Duration
				for range *demands {
					k.link.Requests()
					free = append(free, waited(contender.acquire()))
					contender.release()
					idle = append(idle, k.demandIdle(contender))
					busy = append(busy, k.demandBusy(contender))
				}
				w.awaitChildren(k.path, 0)
				k.mu.Lock()
				defer k.mu.Unlock()
				demanded := 0
				for _, d := range k.dropped {
					switch {
					case d.Demanded:
						demanded++
					case d.Kept < defaultBusy: // a busy machine may not have listed the directory by then
						t.Errorf("dropped %+v without a contender", d)
					}
				}
				if demanded != *demands {
					t.Errorf("got dropped %+v, want %d for a contender", k.dropped, *demands)
				}
				fmt.Fprintf(rows, "%v\t%s\t%s%s%s\n", delay, kind, quantiles(free), quantiles(idle), quantiles(busy))
			})
		}
	}
	_ = rows.Flush() // a Builder takes everything
	fmt.Fprintf(t.Output(), "waits of a contender:\n%s", table.String())
}

// demandIdle has a contender come while the node is idle, checks what that costs the holder, and returns how long the
// contender waited.
func (k *keeper) demandIdle(contender *contender) time.Duration {
	t := k.world.t
	t.Helper()
	k.idles()
	took := waited(contender.acquire())
	sent := k.link.Requests()
	if sent[lockstest.Delete] != 1 || sent[lockstest.GetChildren] != 1 || sent[lockstest.Create] != 0 {
		t.Errorf("the holder sent %v, want one listing and one deletion", sent)
	}
	contender.release()
	return took
}

// demandBusy has a contender come during a hold, with another of the holder's own behind it, and returns how long it
// took from the release to the contender's admission.
func (k *keeper) demandBusy(contender *contender) time.Duration {
	t := k.world.t
	t.Helper()
	k.idles()
	lease, err := k.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wait := contender.queue(k.path)
	<-lease.Contended()
	local := make(chan error, 1)
	go func() { local <- locks.Do(t.Context(), k, func(context.Context) error { return nil }) }()
	released := godriver.Now()
	if err := lease.Release(); err != nil {
		t.Error(err)
	}
	got := wait.granted()
	contender.release()
	if err := <-local; err != nil {
		t.Error(err)
	}
	if !await.Within(patience, func() bool { return len(k.world.children(k.path)) == 0 }) {
		t.Fatal("the node stays")
	}
	return time.Duration(got.Ended - released)
}

func waited(a godriver.Answer) time.Duration { return time.Duration(a.Ended - a.Began) }

func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(q*float64(len(all)-1)+0.5)].Round(10 * time.Microsecond) }
	return fmt.Sprintf("%v\t%v\t", at(0.5), at(0.99))
}

// An idle holder that is killed keeps others waiting until its session is over, as RetainedLock says.
func TestIdleHolderThatIsKilledBlocksForItsSession(t *testing.T) {
	w := newWorld(t)
	mortal := w.mortal(8 * time.Second)
	process := w.fresh(ours, nil)
	path := "/retained/" + name("mutex")
	holder := mortal.clientIn(process, ours, w.addr).contender(godriver.Order{Recipe: "retained", Path: path})
	waiter := w.mutex(java, path)
	var nodes []string // what stays is dropped again if renewals are late, as on a busy machine
	for deadline := time.Now().Add(patience); len(nodes) == 0; nodes = w.children(path) {
		if time.Now().After(deadline) {
			await.Fatalf(t, "a node that stays (%v)", patience)
		}
		holder.acquire()
		holder.release()
	}
	process.Kill()
	got := waiter.acquire()
	t.Logf("a contender waited for %v; the session timeout was %v", waited(got).Round(time.Millisecond), mortal.timeout)
	if slices.Contains(w.children(path), nodes[0]) {
		t.Errorf("let in beside the idle node %s", nodes[0])
	}
	waiter.release()
}

// delayed returns the address of a relay to a server that delivers everything d later, in each direction, for as long
// as the test lasts.
func delayed(t testing.TB, server string, d time.Duration) string {
	t.Helper()
	if d == 0 {
		return server
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			upstream, err := new(net.Dialer).DialContext(context.WithoutCancel(t.Context()), "tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go relay(upstream, client, d)
			go relay(client, upstream, d)
		}
	}()
	return listener.Addr().String()
}

// relay copies what comes from one connection to the other, d later, until either is closed.
func relay(to, from net.Conn, d time.Duration) {
	type packet struct {
		data []byte
		due  time.Time
	}
	packets := make(chan packet, 1<<12)
	go func() {
		defer to.Close()
		for p := range packets {
			time.Sleep(time.Until(p.due))
			if _, err := to.Write(p.data); err != nil {
				from.Close()
			}
		}
	}()
	defer close(packets)
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			packets <- packet{slices.Clone(buffer[:n]), time.Now().Add(d)}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				to.Close()
			}
			return
		}
	}
}
