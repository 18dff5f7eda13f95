package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// A blockingCall is a method with a context that returns an error, or a sequence of them.
type blockingCall struct {
	name string
	do   func(ctx context.Context) error
}

var errorType, contextType = reflect.TypeFor[error](), reflect.TypeFor[context.Context]()

func blockingCalls(subject any, s framework.Session) (all []blockingCall) {
	v, by := reflect.ValueOf(subject), arguments(subject, s)
	name := reflect.Indirect(v).Type().String()
	_, isSession := subject.(framework.Session)
	for i := range v.NumMethod() {
		m, method := v.Method(i).Type(), v.Type().Method(i).Name
		if _, public := reflect.TypeFor[framework.Session]().MethodByName(method); isSession && !public {
			continue
		}
		isSequence := m.NumOut() == 1 && m.Out(0).CanSeq2()
		if m.NumIn() == 0 || m.In(0) != contextType || m.NumOut() == 0 || !isSequence && m.Out(m.NumOut()-1) != errorType {
			continue
		}
		args := make([]reflect.Value, m.NumIn())
		for i := 1; i < len(args); i++ {
			in := m.In(i)
			if m.IsVariadic() && i == len(args)-1 {
				if in = in.Elem(); !by[in].IsValid() {
					args = args[:i]
					break
				}
			}
			if args[i] = by[in]; !args[i].IsValid() {
				args[i] = reflect.Zero(in)
			}
		}
		all = append(all, blockingCall{name + "." + method, func(ctx context.Context) error {
			args[0] = reflect.ValueOf(ctx)
			out := v.Method(i).Call(args)
			if !isSequence {
				err, _ := out[len(out)-1].Interface().(error)
				return err
			}
			for _, err := range out[0].Seq2() {
				if err, _ := err.Interface().(error); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	return all
}

// A world is what the calls meet.
type world struct {
	server  *zktest.Server
	chroots []string // of the clients
	mu      sync.Mutex
	links   []*zktest.Link
	hangs   atomic.Bool
}

func (w *world) client(t *testing.T, chroot string) *framework.Client {
	link := w.server.NewLink()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.links = append(w.links, link)
	client, err := framework.NewClient("zk:2181"+chroot, framework.WithDialer(link.DialContext),
		framework.WithSessionTimeout(time.Minute), framework.WithLookup(func(ctx context.Context, _ string) ([]string, error) {
			if w.hangs.Load() {
				<-ctx.Done()
			}
			return []string{"10.0.0.1"}, ctx.Err()
		}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func (w *world) refuse() {
	w.server.RefuseConnections(true)
	w.server.CutAll()
}

// remove removes a node and all below it.
func (w *world) remove(node string) {
	for _, child := range w.server.Children(node) {
		w.remove(node + "/" + child)
	}
	_ = w.server.Delete(node)
}

func (w *world) removeChroots() {
	w.server.Freeze() // else the clients make their nodes again meanwhile
	each(w.chroots, w.remove)
	w.server.Unfreeze()
}

// swallow has the server answer no request but those of one kind.
func (w *world) swallow(but zktest.Op) {
	for op := zktest.Op(1); op < 110; op++ {
		for i := range 200 {
			if op != but {
				w.server.SwallowReply(zktest.Match{Op: op, Nth: i + 1})
			}
		}
	}
}

// creating are calls that make a node.
var creating = regexp.MustCompile(`(Client\.Create|Acquire|AcquireN|Campaign|Do|RunOnce|Register|Initialize|Add)$`)

// Each call with a context returns when that ends, with its cause, whatever the servers do. The calls of a subject are
// found by reflection, and compared with those that the sources declare. None makes the chroot of its client.
func TestNoCallOutlivesItsContext(t *testing.T) {
	const deadline, allowed = time.Second, 100 * time.Millisecond
	const withoutChroot = "the chroot is removed"
	reason := errors.New("reason")
	waited := map[string]bool{} // by method
	for name, c := range map[string]struct {
		occupied bool // by another client, for half of the time
		begin    func(w *world)
	}{
		"silent":                         {false, func(w *world) { each(w.links, (*zktest.Link).Mute) }},
		"frozen":                         {false, func(w *world) { w.server.Freeze() }},
		"refusing":                       {false, (*world).refuse},
		"handshakes only":                {false, func(w *world) { w.swallow(0); w.server.CutAll() }},
		"pings only":                     {false, func(w *world) { w.swallow(zktest.OpPing) }},
		"look-ups hang":                  {false, func(w *world) { w.hangs.Store(true); w.refuse() }},
		"frozen behind another client":   {true, func(w *world) { w.server.Freeze() }},
		"refusing behind another client": {true, (*world).refuse},
		withoutChroot:                    {false, (*world).removeChroots},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				t.Cleanup(func() { time.Sleep(time.Second) }) // a latch pauses, without its client too
				w := &world{server: zktest.New(t)}
				var calls []blockingCall
				for number, method := 0, 0; ; method++ {
					chroot := fmt.Sprintf("/%d-%d", number, method)
					if err := w.server.Create(chroot, nil); err != nil {
						t.Fatal(err)
					}
					w.chroots = append(w.chroots, chroot)
					if c.occupied {
						other := w.client(t, chroot)
						occupy(t.Context(), other, subjects(t.Context(), other)[number]())
					}
					client := w.client(t, chroot)
					all := subjects(t.Context(), client)
					s, err := client.Session(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					methods := blockingCalls(all[number](), s)
					calls = append(calls, methods[method])
					if method == len(methods)-1 {
						number, method = number+1, -1
					}
					if number == len(all) {
						break
					}
				}
				synctest.Wait()
				if !c.occupied {
					c.begin(w)
					synctest.Wait()
				}
				ctx, cancel := context.WithTimeoutCause(t.Context(), deadline, reason)
				defer cancel()
				began := time.Now()
				var ended sync.WaitGroup
				for _, call := range calls {
					ended.Go(func() {
						err := call.do(ctx)
						took := time.Since(began)
						if took > deadline+allowed {
							t.Errorf("%s returned %v after its deadline: %v", call.name, took-deadline, err)
						}
						if name == withoutChroot && creating.MatchString(call.name) && !errors.Is(err, framework.ErrNoChroot) {
							t.Errorf("%s without the chroot: got %v, want ErrNoChroot", call.name, err)
						}
						w.mu.Lock()
						defer w.mu.Unlock()
						if took >= deadline && errors.Is(err, context.DeadlineExceeded) && errors.Is(err, reason) {
							waited[call.name] = true
						}
					})
				}
				if c.occupied {
					time.Sleep(deadline / 2)
					c.begin(w)
				}
				ended.Wait()
				for i, chroot := range w.chroots {
					if w.server.Exists(chroot) == (name == withoutChroot) {
						t.Errorf("%s: the chroot is there: %t, want %t", calls[i].name, name == withoutChroot, name != withoutChroot)
					}
				}
				w.server.Unfreeze()
				w.server.RefuseConnections(false)
			})
		})
	}
	for _, method := range declared(t) {
		if !waited[method] {
			t.Errorf("%s has not waited for the end of its context, with its cause: what calls it?", method)
		}
	}
}

func each[T any](all []T, do func(T)) {
	for _, a := range all {
		do(a)
	}
}
