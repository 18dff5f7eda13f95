package framework_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

func TestEveryModeMakesItsKindOfNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		me := w.Session().ID()
		for _, c := range []struct {
			mode  framework.CreateMode
			name  string
			owner int64
			opts  []framework.CreateOption
		}{
			{mode: framework.Persistent, name: "/n"},
			{mode: framework.Ephemeral, name: "/n", owner: me},
			{mode: framework.PersistentSequential, name: `/n\d{10}`},
			{mode: framework.EphemeralSequential, name: `/n\d{10}`, owner: me},
			{mode: framework.Container, name: "/n"},
			{mode: framework.PersistentWithTTL, name: "/n", opts: []framework.CreateOption{framework.WithTTL(time.Minute)}},
			{
				mode: framework.PersistentSequentialWithTTL, name: `/n\d{10}`,
				opts: []framework.CreateOption{framework.WithTTL(time.Minute)},
			},
		} {
			path, stat, err := w.Client.Create(w.Context(), "/n", []byte("x"), append(c.opts, framework.WithMode(c.mode))...)
			must(t, err)
			if !regexp.MustCompile("^" + c.name + "$").MatchString(path) {
				t.Errorf("mode %d made %s", c.mode, path)
			}
			there, ok := w.Server.Stat(path)
			if !ok || stat.Czxid != there.Czxid || stat.EphemeralOwner != there.EphemeralOwner || stat.EphemeralOwner != c.owner {
				t.Errorf("mode %d: the answer has %+v, the server %+v", c.mode, stat, there)
			}
			must(t, w.Client.Delete(w.Context(), path, -1))
		}
	})
}

func TestCreateRefusesWhatCannotBe(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for _, c := range []struct {
			path string
			opts []framework.CreateOption
		}{
			{"/", nil},
			{"a", nil},
			{"/a/", nil},
			{"/a", []framework.CreateOption{framework.WithMode(7)}},
			{"/a", []framework.CreateOption{framework.WithMode(-1)}},
			{"/a", []framework.CreateOption{framework.WithMode(framework.PersistentWithTTL)}},
			{"/a", []framework.CreateOption{framework.WithMode(framework.PersistentWithTTL), framework.WithTTL(time.Microsecond)}},
			{"/a", []framework.CreateOption{framework.WithTTL(time.Minute)}},
			{"/a", []framework.CreateOption{framework.WithMode(framework.Container), framework.WithProtection()}},
		} {
			if path, _, err := w.Client.Create(t.Context(), c.path, nil, c.opts...); err == nil {
				t.Errorf("%q with %d options was made as %s", c.path, len(c.opts), path)
			}
		}
		if n := w.Count(zktest.OpCreate2) + w.Count(zktest.OpCreateContainer) + w.Count(zktest.OpCreateTTL); n != 0 {
			t.Errorf("%d requests were sent", n)
		}
	})
}

func TestDataIsTheDefaultOnlyIfNil(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for _, c := range []struct{ given, want []byte }{{nil, []byte("default")}, {[]byte{}, nil}, {[]byte("x"), []byte("x")}} {
			path, _, err := w.Client.Create(t.Context(), "/n-", c.given, framework.WithMode(framework.PersistentSequential))
			must(t, err)
			if got, _ := w.Server.Data(path); !bytes.Equal(got, c.want) {
				t.Errorf("%q became %q", c.given, got)
			}
		}
	})
}

func TestASequentialNodeMayHaveANumberForItsName(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/a")
		if got := w.Create("/a/", framework.WithMode(framework.PersistentSequential)); got != "/a/0000000000" {
			t.Errorf("made %s", got)
		}
	})
}

func TestMissingParentsAreAnErrorUnlessAskedFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_, _, err := w.Client.Create(t.Context(), "/a/b/c", nil)
		wantErr(t, err, zk.ErrNoNode)
		w.Create("/a/b/c", framework.CreatingParentsIfNeeded())
		w.Create("/x/y/z", framework.CreatingParentContainersIfNeeded())
		must(t, w.Server.Delete("/x/y/z"))
		time.Sleep(time.Minute)
		if w.Server.Exists("/x") || !w.Server.Exists("/a") {
			t.Errorf("got /x there: %t, /a there: %t; want the container /x gone with its last child, and /a kept",
				w.Server.Exists("/x"), w.Server.Exists("/a"))
		}
	})
}

func TestTheNamespacesNodeIsMade(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		app := w.Client.UsingNamespace("team/app")
		path, _, err := app.Create(t.Context(), "/n", nil)
		if err != nil || path != "/n" {
			t.Fatal(path, err)
		}
		if !w.Server.Exists("/team/app/n") {
			t.Errorf("the root has %q", w.Server.Children("/"))
		}
		_, _, err = app.Create(t.Context(), "/no/parent", nil)
		wantErr(t, err, zk.ErrNoNode)
	})
}

// Create makes a namespace's node that is missing. It never makes the chroot, and each error for want of it says so.
func TestAClientWithoutANamespaceDoesNotMakeItsChroot(t *testing.T) {
	type creation func(client *framework.Client, path string) error
	create := func(opts ...framework.CreateOption) creation {
		return func(client *framework.Client, path string) error {
			_, _, err := client.Create(context.Background(), path, nil, opts...)
			return err
		}
	}
	for name, do := range map[string]creation{
		"plain": create(), "protected": create(framework.WithProtection()), "or set": create(framework.OrSetData(-1)),
		"sequential": create(framework.WithMode(framework.EphemeralSequential)),
		"container":  create(framework.WithMode(framework.Container)),
		"TTL":        create(framework.WithMode(framework.PersistentWithTTL), framework.WithTTL(time.Minute)),
		"parents":    create(framework.CreatingParentsIfNeeded()),
		"containers": create(framework.CreatingParentContainersIfNeeded()),
		"transaction": func(client *framework.Client, path string) error {
			_, err := client.Transaction(context.Background(), framework.CheckOp("/", -1).Absolute(), framework.CreateOp(path, nil))
			return err
		},
		"absolute": func(client *framework.Client, path string) error {
			absolute, _ := client.AbsolutePath(path)
			_, err := client.Transaction(context.Background(), framework.CreateOp(absolute, nil).Absolute())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				w.Make("/app")
				client := w.Dial("zk:2181/app")
				must(t, client.BlockUntilConnected(t.Context()))
				makes := name == "parents" || name == "containers"
				if err := do(client, "/p/n"); makes != (err == nil) || errors.Is(err, framework.ErrNoChroot) {
					t.Errorf("with the chroot: got %v, want the parent made: %t, and no word of the chroot", err, makes)
				}
				_ = client.Delete(t.Context(), "/p", -1, framework.DeletingChildrenIfNeeded())
				must(t, w.Server.Delete("/app"))
				for path, client := range map[string]*framework.Client{"/n": client, "/p/n": client, "/q": client.UsingNamespace("space")} {
					err := do(client, path)
					wantErr(t, err, framework.ErrNoChroot)
					if path != "/q" && !makes {
						wantErr(t, err, zk.ErrNoNode)
					}
				}
				if w.Server.Exists("/app") {
					t.Error("got /app made by its client, want it missing")
				}
			})
		})
	}
}

func TestTheACLProviderIsAskedUnlessAnACLIsGiven(t *testing.T) {
	readers := []zk.ACL{{Perms: zk.PermRead | zk.PermCreate, Scheme: "world", ID: "anyone"}}
	var asked []string
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/a/b", framework.CreatingParentsIfNeeded())
		w.Create("/open", framework.WithACL(zk.WorldACL(zk.PermAll)...))
		for path, want := range map[string]int32{"/a": readers[0].Perms, "/a/b": readers[0].Perms, "/open": zk.PermAll} {
			acl, stat, err := w.Client.ACL(t.Context(), path)
			if err != nil || len(acl) != 1 || acl[0].Perms != want || stat.Aversion != 0 {
				t.Errorf("%s has %v (%v)", path, acl, err)
			}
		}
		if len(asked) == 0 || asked[0] != "/a/b" {
			t.Errorf("asked for %q", asked)
		}
		_, err := w.Client.Set(t.Context(), "/a", nil, -1)
		wantErr(t, err, zk.ErrNoAuth)
	}, framework.WithACLProvider(func(path string) []zk.ACL {
		asked = append(asked, path)
		return readers
	}))
}

func protectedNodes(w *env) (n int) {
	for _, name := range w.Server.Children("/") {
		if len(name) > 3 && name[:3] == "_c_" {
			n++
		}
	}
	return n
}

var protectedModes = []framework.CreateMode{
	framework.Persistent, framework.Ephemeral, framework.PersistentSequential, framework.EphemeralSequential,
}

func TestAProtectedCreateWhoseAnswerIsLostMakesOneNode(t *testing.T) {
	for _, mode := range protectedModes {
		bubble(t, func(t *testing.T, w *env) {
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			path, stat, err := w.Client.Create(t.Context(), "/n-", nil, framework.WithMode(mode), framework.WithProtection())
			must(t, err)
			there, ok := w.Server.Stat(path)
			if n := protectedNodes(w); n != 1 || !ok || there.Czxid != stat.Czxid {
				t.Errorf("mode %d: %d nodes; answered %s %+v, at the server %+v", mode, n, path, stat, there)
			}
			if n := w.Count(zktest.OpCreate2); n != 1 {
				t.Errorf("mode %d: %d creates", mode, n)
			}
		})
	}
}

func TestAProtectedCreateThatNeverArrivedIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2})
		w.Create("/n-", framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		if n := protectedNodes(w); n != 1 {
			t.Errorf("%d nodes", n)
		}
	})
}

func TestTheSearchForALostCreateIsRepeatedOnTheNextConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		w.Server.DropReply(zktest.Match{Op: zktest.OpGetChildren2, Path: "/"})
		w.Server.DropReply(zktest.Match{Op: zktest.OpExists})
		w.Create("/n-", framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		if n := protectedNodes(w); n != 1 {
			t.Errorf("%d nodes", n)
		}
	})
}

// The answer is lost, and so is the session: an ephemeral node goes with it and another is made; a persistent one
// stays, and must be found in the next session.
func TestAProtectedCreateInALostSessionLeavesOneNode(t *testing.T) {
	for _, mode := range protectedModes {
		bubble(t, func(t *testing.T, w *env) {
			old := w.Session().ID()
			w.Server.Observe(func(r zktest.Request) {
				if r.Op == zktest.OpCreate2 && r.Session == old {
					w.Link.Cut()
					go func() {
						time.Sleep(clienttest.SessionTimeout + time.Second)
						w.Link.Heal()
					}()
				}
			})
			w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
			path, stat, err := w.Client.Create(t.Context(), "/n-", nil, framework.WithMode(mode), framework.WithProtection())
			must(t, err)
			time.Sleep(time.Minute)
			if n := protectedNodes(w); n != 1 || !w.Server.Exists(path) {
				t.Errorf("mode %d: %q is left after %s was made", mode, w.Server.Children("/"), path)
			}
			if stat.EphemeralOwner == old {
				t.Errorf("mode %d: the node belongs to the lost session", mode)
			}
		})
	}
}

// The client's clock ends the session before the server's does: the node of the old one is still there when the next
// looks.
func TestANodeOfTheOldSessionIsNotAdopted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		w := &env{&clienttest.Env{T: t, Server: zktest.NewServer(zktest.WithTickTime(clienttest.SessionTimeout/2), zktest.WithSessionTimeouts(clienttest.SessionTimeout, clienttest.SessionTimeout)), States: &clienttest.States{}}}
		t.Cleanup(func() { w.Server.Close() })
		w.Link = w.Server.NewLink()
		w.Client = w.Dial("zk:2181", framework.WithStateListener(w.States.Hear))
		w.Connected()
		old := w.Session().ID()
		time.Sleep(time.Second)
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		w.Server.Observe(func(r zktest.Request) {
			if r.Op == zktest.OpCreate2 && r.Session == old {
				w.Link.Cut()
			}
		})
		go func() {
			for !w.States.Has(lost) {
				time.Sleep(10 * time.Millisecond)
			}
			w.Link.Heal()
		}()
		path, stat, err := w.Client.Create(t.Context(), "/n-", nil, framework.WithMode(framework.EphemeralSequential), framework.WithProtection())
		must(t, err)
		if stat.EphemeralOwner == old || stat.EphemeralOwner != w.Session().ID() {
			t.Errorf("%s belongs to %#x", path, stat.EphemeralOwner)
		}
		time.Sleep(time.Minute)
		if n := protectedNodes(w); n != 1 || !w.Server.Exists(path) {
			t.Errorf("%q is left after %s was made", w.Server.Children("/"), path)
		}
	})
}

func TestAnAbandonedProtectedCreateLeavesNoNode(t *testing.T) {
	for _, mode := range protectedModes {
		for name, after := range map[string]func(w *env, release func()){
			"answered later":   func(_ *env, release func()) { release() },
			"connection broke": func(w *env, _ func()) { w.Link.Reset() },
			"session lost":     func(w *env, _ func()) { w.Link.Cut(); time.Sleep(2 * clienttest.SessionTimeout); w.Link.Heal() },
		} {
			t.Run(fmt.Sprintf("%d/%s", mode, name), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *env) {
					w.Server.DelayReply(zktest.Match{Op: zktest.OpCreate2}, 5*time.Second)
					_, _, err := w.Client.Create(w.Within(time.Second), "/n-", nil, framework.WithMode(mode), framework.WithProtection())
					wantErr(t, err, context.DeadlineExceeded)
					if n := protectedNodes(w); n != 1 {
						t.Errorf("%d nodes while the answer is on its way", n)
					}
					after(w, func() {})
					time.Sleep(2 * clienttest.SessionTimeout)
					if n := protectedNodes(w); n != 0 {
						t.Errorf("%q is left", w.Server.Children("/"))
					}
				})
			})
		}
	}
}

func TestAProtectedCreateHasOneRetryBudget(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for i := range 100 {
			w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate2, Nth: i + 1})
			w.Server.DropRequest(zktest.Match{Op: zktest.OpCreate, Nth: i + 1}) // the create that takes its place
		}
		_, _, err := w.Client.Create(t.Context(), "/n", nil, framework.WithProtection())
		wantErr(t, err, framework.ErrConnectionLost, retry.ErrExhausted)
	}, framework.WithRetryPolicy(retry.NTimes(3, time.Second)))
}

func TestAProtectedCreateThatIsGivenUpIsSweptLater(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		_, _, err := w.Client.Create(t.Context(), "/n", nil, framework.WithProtection())
		wantErr(t, err, framework.ErrConnectionLost, retry.ErrExhausted)
		w.Eventually("swept", func() bool { return protectedNodes(w) == 0 })
	}, framework.WithRetryPolicy(retry.Never()))
}

func TestAnUnprotectedCreateMayFindItsOwnNode(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpCreate2})
		_, _, err := w.Client.Create(t.Context(), "/n", nil)
		wantErr(t, err, zk.ErrNodeExists, framework.ErrConnectionLost)
	})
}

// Whose node is there, the answer shows only if no try before went without one. A server that throttles a request has
// answered it.
func TestAnAnswerToACreateIsALostConnectionOnlyAfterATryWithoutAnAnswer(t *testing.T) {
	for name, test := range map[string]struct {
		fail func(s *zktest.Server, m zktest.Match)
		lost bool
	}{
		"nothing":             {func(*zktest.Server, zktest.Match) {}, false},
		"a throttled request": {(*zktest.Server).ThrottleRequest, false},
		"a lost request":      {(*zktest.Server).DropRequest, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				must(t, w.Server.Create("/n", nil))
				test.fail(w.Server, zktest.Match{Op: zktest.OpCreate2})
				_, _, err := w.Client.Create(t.Context(), "/n", nil)
				if !errors.Is(err, zk.ErrNodeExists) || errors.Is(err, framework.ErrConnectionLost) != test.lost {
					t.Errorf("got %v, want %v, and %v only after a lost request", err, zk.ErrNodeExists, framework.ErrConnectionLost)
				}
			})
		})
	}
}

func TestARequestThatIsTooLargeIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		for name, op := range map[string]func() error{
			"create": func() error { _, _, err := w.Client.Create(t.Context(), "/n", make([]byte, 1<<20)); return err },
			"protected": func() error {
				_, _, err := w.Client.Create(t.Context(), "/n", make([]byte, 1<<20), framework.WithProtection())
				return err
			},
			"set": func() error { _, err := w.Client.Set(t.Context(), "/", make([]byte, 1<<20), -1); return err },
			"transaction": func() error {
				_, err := w.Client.Transaction(t.Context(), framework.SetOp("/", make([]byte, 1<<20), -1))
				return err
			},
		} {
			if err := op(); err == nil {
				t.Errorf("%s: no error", name)
			} else {
				wantErr(t, err, framework.ErrTooLarge)
			}
		}
		// The largest that fits.
		if _, _, err := w.Client.Create(t.Context(), "/n", make([]byte, 1<<20-200)); err != nil {
			t.Error(err)
		}
		w.States.Want(t, connected)
		synctest.Wait()
	})
}

func TestDefaultDataCanBeTurnedOff(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181", framework.WithDefaultData(nil))
		if _, _, err := client.Create(t.Context(), "/empty", nil); err != nil {
			t.Fatal(err)
		}
		if data, _, err := client.Get(t.Context(), "/empty"); err != nil || len(data) != 0 {
			t.Errorf("got %q, %v, want nothing", data, err)
		}
	})
}
