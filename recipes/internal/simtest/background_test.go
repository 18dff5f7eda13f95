package simtest_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// A scene is one server with two clients, of which the first keeps a log.
type scene struct {
	*testing.T
	server        *zktest.Server
	client, other *framework.Client
	log           lines
}

func newScene(t *testing.T) *scene {
	w := &scene{T: t, server: zktest.New(t, zktest.WithEnforcedQuotas())}
	w.client, w.other = w.connect("", w.logged()), w.connect("")
	w.do(w.server.Create("/dir", nil))
	return w
}

func (w *scene) logged() framework.Option {
	return framework.WithLogger(slog.New(slog.NewTextHandler(&w.log, nil)))
}

func (w *scene) connect(chroot string, opts ...framework.Option) *framework.Client {
	client, err := framework.NewClient("zktest:2181"+chroot, append(opts,
		framework.WithDialer(w.server.DialContext), framework.WithRetryPolicy(retry.Forever(100*time.Millisecond)))...)
	w.do(err)
	w.Cleanup(func() { _ = client.Close() })
	return client
}

func (w *scene) do(errs ...error) {
	w.Helper()
	for _, err := range errs {
		if err != nil {
			w.Fatal(err)
		}
	}
}

// allow leaves a node these permissions, and has the clients read it again.
func (w *scene) allow(path string, perms int32) {
	w.Helper()
	w.do(w.server.SetACL(path, zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"}))
	w.server.CutAll()
	time.Sleep(time.Second)
}

// take deletes a node, and makes it again as the other client's.
func (w *scene) take(path string) {
	w.Helper()
	_, err := w.other.Transaction(w.Context(), framework.DeleteOp(path, -1), framework.CreateOp(path, nil, framework.WithMode(framework.Ephemeral)))
	w.do(err)
}

func (w *scene) keep(path string, opts ...nodes.Option) *nodes.PersistentNode {
	w.Helper()
	node := nodes.NewPersistentNode(w.client, path, nil, opts...)
	w.do(node.Start(w.Context()))
	w.Cleanup(func() { _ = node.Close() })
	return node
}

// lines are what recipes have logged: neither the client's states, nor the end of a lease that a test has brought
// about.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !bytes.Contains(line, []byte(`msg="framework: `)) && !bytes.Contains(line, []byte(`msg="locks: lease lost`)) {
		l.all = append(l.all, string(line))
	}
	return len(line), nil
}

// want checks that there are as many lines as there are wants, each with all of the words.
func (l *lines) want(t *testing.T, wants ...string) {
	t.Helper()
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) != len(wants) {
		t.Fatalf("got the lines %q, want %q", l.all, wants)
	}
	for i, want := range wants {
		for word := range strings.FieldsSeq(want) {
			if !strings.Contains(l.all[i], word) {
				t.Errorf("got the line %q, want %q in it", l.all[i], word)
			}
		}
	}
}

// failures are what can go wrong in the background: each begins, and returns what ends it. The first word of its name
// is the recipe's package.
var failures = map[string]struct {
	reason string
	begin  func(w *scene) (end func())
}{
	"nodes: another session has taken the node": {"level=WARN /dir/n another ephemeralOwner", func(w *scene) func() {
		w.keep("/dir/n")
		w.take("/dir/n")
		return func() { w.do(w.other.Delete(w.Context(), "/dir/n", -1)) }
	}},
	"nodes: another session has taken the node, until Close": {"level=WARN /dir/n another", func(w *scene) func() {
		node := w.keep("/dir/n")
		w.take("/dir/n")
		return func() { w.do(node.Close()) }
	}},
	"nodes: the node may not be made again": {"level=WARN /dir/n permission CREATE", func(w *scene) func() {
		w.keep("/dir/n")
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		w.do(w.server.Delete("/dir/n"))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"nodes: first another's, then refused": {"level=WARN /dir/n another", func(w *scene) func() {
		w.keep("/dir/n")
		w.allow("/dir", zk.PermRead|zk.PermDelete|zk.PermCreate)
		w.take("/dir/n")
		synctest.Wait()
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		w.do(w.server.Delete("/dir/n"))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"nodes: other data are refused": {"level=WARN /dir/n permission WRITE", func(w *scene) func() {
		node := w.keep("/dir/n")
		w.allow("/dir/n", zk.PermRead)
		if err := node.Set(w.Context(), []byte("x")); err == nil {
			w.Error("got no error of Set, want one")
		}
		return func() { w.allow("/dir/n", zk.PermAll) }
	}},
	"nodes: a quota is exceeded": {"level=WARN /dir/n QUOTAEXCEEDED", func(w *scene) func() {
		w.keep("/dir/n")
		w.do(w.server.Create("/dir/full", nil))
		for _, quota := range [][2]string{{"limits", "count=-1,bytes=-1=;byteHardLimit=-1;countHardLimit=2"}, {"stats", ""}} {
			_, _, err := w.other.Create(w.Context(), "/zookeeper/quota/dir/zookeeper_"+quota[0], []byte(quota[1]), framework.CreatingParentsIfNeeded())
			w.do(err)
		}
		w.do(w.server.Delete("/dir/n"))
		return func() { w.do(w.server.Delete("/dir/full")) }
	}},
	"nodes: the time to live cannot be renewed": {"level=WARN /dir/n permission CREATE", func(w *scene) func() {
		w.keep("/dir/n", nodes.WithMode(framework.PersistentWithTTL), nodes.WithTTL(8*time.Second), nodes.Overwriting())
		s, err := w.client.Session(w.Context())
		w.do(err)
		w.Cleanup(s.WatchData("/dir/n", func() {}).Stop) // so the node is seen as soon as the keeper looks again
		synctest.Wait()
		w.allow("/dir/n", zk.PermRead)
		w.do(w.server.Delete("/dir/n/touch"))
		time.Sleep(time.Second) // it is made again after four
		return func() { w.allow("/dir/n", zk.PermAll) }
	}},
	"discovery: a registration waits for its predecessor": {"level=WARN /dir/jobs/1 another", func(w *scene) func() {
		job := discovery.ServiceInstance{Name: "jobs", ID: "1"}
		before, err := discovery.NewServiceDiscovery(w.other, "/dir").Register(w.Context(), job)
		w.do(err)
		registered := make(chan *discovery.Registration, 1)
		go func() {
			r, err := discovery.NewServiceDiscovery(w.client, "/dir").Register(context.WithoutCancel(w.Context()), job)
			if err != nil {
				w.Error(err)
			}
			registered <- r
		}()
		return func() {
			w.do(before.Close())
			w.do((<-registered).Close())
		}
	}},
	"discovery: an instance cannot be decoded": {"level=WARN /dir/jobs instance", func(w *scene) func() {
		w.do(w.server.Create("/dir/jobs", nil), w.server.Create("/dir/jobs/1", []byte("{")), w.server.Create("/dir/jobs/2", nil), w.server.Create("/dir/jobs/3", nil))
		services := discovery.NewServiceDiscovery(w.client, "/dir").NewServiceCache("jobs")
		w.do(services.Start(w.Context()))
		w.Cleanup(func() { _ = services.Close() })
		read := func() {
			synctest.Wait()
			if n := len(services.Bad()) + len(slices.Collect(services.Instances())); n != len(w.server.Children("/dir/jobs")) {
				w.Errorf("got %d nodes, want all", n)
			}
		}
		read()
		good := []byte(`{"name":"jobs","id":"1"}`)
		w.do(w.server.SetData("/dir/jobs/2", good))
		read()
		return func() {
			w.do(w.server.Delete("/dir/jobs/1"), w.server.Delete("/dir/jobs/2"), w.server.SetData("/dir/jobs/3", good))
			read()
		}
	}},
	"discovery: an instance cannot be decoded, until Close": {"level=WARN /dir/jobs instance", func(w *scene) func() {
		w.do(w.server.Create("/dir/jobs", nil), w.server.Create("/dir/jobs/1", nil))
		services := discovery.NewServiceDiscovery(w.client, "/dir").NewServiceCache("jobs")
		w.do(services.Start(w.Context()))
		services.Bad()
		return func() { w.do(services.Close()) }
	}},
	"leader: a latch may not stand again": {"level=WARN /dir permission CREATE", func(w *scene) func() {
		latch := leader.NewLeaderLatch(w.client, "/dir")
		w.do(latch.Start(w.Context()))
		w.Cleanup(func() { _ = latch.Close() })
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		w.do(w.server.Delete("/dir/" + w.server.Children("/dir")[0]))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"leader: a latch stands again behind another": {"level=WARN /dir permission CREATE", func(w *scene) func() {
		latch, first := leader.NewLeaderLatch(w.client, "/dir"), leader.NewLeaderLatch(w.other, "/dir")
		for _, l := range []*leader.LeaderLatch{first, latch} {
			w.do(l.Start(w.Context()))
			w.Cleanup(func() { _ = l.Close() })
		}
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		mine, err := latch.Participants(w.Context())
		w.do(err, w.server.Delete(mine[1].Path))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"leader: a selector may not stand again": {"level=WARN /dir permission CREATE", func(w *scene) func() {
		w.stand(w.client)
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		w.do(w.server.Delete("/dir/" + w.server.Children("/dir")[0]))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"leader: a selector stands again behind another": {"level=WARN /dir permission CREATE", func(w *scene) func() {
		w.stand(w.other)
		mine := w.stand(w.client)
		w.allow("/dir", zk.PermRead|zk.PermDelete)
		all, err := mine.Participants(w.Context())
		w.do(err, w.server.Delete(all[1].Path))
		return func() { w.allow("/dir", zk.PermAll) }
	}},
	"cache: the chroot is gone": {"level=WARN path=/ chroot", func(w *scene) func() {
		below := w.connect("/dir", w.logged())
		c := cache.NewCuratorCache(below, "/")
		w.do(c.Start(w.Context()))
		w.Cleanup(func() { _ = c.Close() })
		s, err := below.Session(w.Context())
		w.do(err, w.server.Delete("/dir"))
		w.server.ExpireSession(s.ID())
		time.Sleep(time.Minute)
		return func() {
			w.do(w.server.Create("/dir", nil))
			time.Sleep(time.Minute)
		}
	}},
	"cache: the tree has outgrown its limit": {"level=WARN /dir limit", func(w *scene) func() {
		c := w.follow(cache.WithMaxBytes(1000))
		w.do(w.server.Create("/dir/large", make([]byte, 2000)))
		return func() { w.do(w.server.Delete("/dir/large"), c.Start(w.Context())) }
	}},
	"shared: the count is no number": {"level=WARN /dir/count 5 bytes", func(w *scene) func() {
		w.count()
		w.do(w.server.SetData("/dir/count", []byte("three")))
		synctest.Wait()
		w.do(w.server.SetData("/dir/count", []byte("four!")))
		return func() { w.do(w.server.SetData("/dir/count", []byte{0, 0, 0, 3})) }
	}},
	"shared: the count is no number, until Close": {"level=WARN /dir/count 5 bytes", func(w *scene) func() {
		count := w.count()
		w.do(w.server.SetData("/dir/count", []byte("three")))
		return func() { w.do(count.Close()) }
	}},
	"shared: the count may not be read": {"level=WARN /dir/count permission READ", func(w *scene) func() {
		w.count()
		w.allow("/dir/count", zk.PermWrite)
		return func() { w.allow("/dir/count", zk.PermAll) }
	}},
}

func (w *scene) stand(client *framework.Client) *leader.LeaderSelector {
	ctx, stop := context.WithCancel(w.Context())
	selector, ended := leader.NewLeaderSelector(client, "/dir"), make(chan error, 1)
	go func() {
		ended <- selector.Run(ctx, func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
	}()
	w.Cleanup(func() { stop(); <-ended })
	synctest.Wait()
	return selector
}

func (w *scene) follow(opts ...cache.Option) *cache.CuratorCache {
	w.Helper()
	c := cache.NewCuratorCache(w.client, "/dir", opts...)
	w.do(c.Start(w.Context()))
	w.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *scene) count() *shared.SharedCount {
	w.Helper()
	count := shared.NewSharedCount(w.client, "/dir/count", 1)
	w.do(count.Start(w.Context()))
	w.Cleanup(func() { _ = count.Close() })
	return count
}

func TestAFailureInTheBackgroundIsLoggedWhenItBeginsAndWhenItIsOver(t *testing.T) {
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := newScene(t)
				end := failure.begin(w)
				time.Sleep(3 * time.Second)
				w.log.want(t, failure.reason)
				end()
				time.Sleep(3 * time.Second)
				w.log.want(t, failure.reason, "level=INFO (over) lasted error")
				w.do(w.client.Close())
				w.log.want(t, failure.reason, "level=INFO (over) lasted error")
			})
		})
	}
}

func TestAFailureThatStartReturnsIsNotLogged(t *testing.T) {
	for name, start := range map[string]func(w *scene) error{
		"nodes": func(w *scene) error { return nodes.NewPersistentNode(w.client, "/dir/n", nil).Start(w.Context()) },
		"discovery": func(w *scene) error {
			_, err := discovery.NewServiceDiscovery(w.client, "/dir").Register(w.Context(), discovery.ServiceInstance{Name: "jobs"})
			return err
		},
		"leader": func(w *scene) error { return leader.NewLeaderLatch(w.client, "/dir").Start(w.Context()) },
		"cache": func(w *scene) error {
			return cache.NewCuratorCache(w.client, "/dir", cache.WithMaxBytes(1)).Start(w.Context())
		},
		"shared": func(w *scene) error { return shared.NewSharedCount(w.client, "/dir", 1).Start(w.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				w := newScene(t)
				w.allow("/dir", zk.PermRead)
				if err := start(w); err == nil {
					t.Error("got no error, want one")
				}
				time.Sleep(3 * time.Second)
				w.log.want(t)
			})
		})
	}
}
