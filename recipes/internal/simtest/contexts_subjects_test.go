package simtest_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/counters"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/nodes"
	"github.com/gocurator/curator/recipes/shared"
)

var instance = discovery.ServiceInstance{Name: "x", ID: "x"}

// subjects make values of all types that have methods with contexts, fresh and started.
func subjects(ctx context.Context, c *framework.Client) []func() any {
	mutex, services, readWrite := locks.NewInterProcessMutex(c, "/x"), discovery.NewServiceDiscovery(c, "/x"), locks.NewInterProcessReadWriteLock(c, "/x")
	return []func() any{
		func() any { return c },
		func() any { s, _ := c.Session(ctx); return s },
		func() any { return session.NewWaiter() },
		func() any { return functions{c} },
		func() any { return cache.NewCuratorCache(c, "/x") },
		func() any { return started(ctx, cache.NewCuratorCache(c, "/x")) },
		func() any { return counters.NewDistributedAtomicInteger(c, "/x") },
		func() any { return counters.NewDistributedAtomicLong(c, "/x") },
		func() any { return counters.NewDistributedAtomicLong(c, "/x", counters.WithLock("/y")) },
		func() any { return services },
		func() any { r, _ := services.Register(ctx, instance); return r },
		func() any { return services.NewServiceCache("x") },
		func() any { return started(ctx, services.NewServiceCache("x")) },
		func() any { return leader.NewLeaderLatch(c, "/x") },
		func() any { return started(ctx, leader.NewLeaderLatch(c, "/x")) },
		func() any { return leader.NewLeaderSelector(c, "/x") },
		func() any { return mutex },
		func() any { return mutex.Retained() },
		func() any { return locks.Within(mutex, time.Minute) },
		func() any { lease, _ := locks.NewInterProcessMutex(c, "/y").Acquire(ctx); return lease },
		func() any { return locks.NewInterProcessSemaphoreMutex(c, "/x") },
		func() any { return locks.NewInterProcessSemaphoreV2(c, "/x", 1) },
		func() any {
			return locks.NewInterProcessSemaphoreV2WithCount(c, "/x", started(ctx, shared.NewSharedCount(c, "/y", 1)))
		},
		func() any { return readWrite.ReadLock() },
		func() any { return readWrite.WriteLock() },
		func() any { return locks.NewInterProcessMultiLockWithPaths(c, []string{"/y", "/x"}) },
		func() any { return nodes.NewPersistentNode(c, "/x", nil) },
		func() any {
			return nodes.NewPersistentNode(c, "/x", nil, nodes.WithMode(framework.EphemeralSequential))
		},
		func() any {
			return nodes.NewPersistentNode(c, "/x", nil, nodes.WithMode(framework.Persistent), nodes.Overwriting())
		},
		func() any { return started(ctx, nodes.NewPersistentNode(c, "/y", nil)) },
		func() any { return shared.NewSharedCount(c, "/x", 1) },
		func() any { return started(ctx, shared.NewSharedCount(c, "/x", 1)) },
	}
}

type starter interface {
	Start(ctx context.Context) error
}

// started starts a recipe, if nothing is in its way.
func started[T starter](ctx context.Context, recipe T) T {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = recipe.Start(ctx)
	return recipe
}

// functions has those of packages as methods.
type functions struct{ c *framework.Client }

func (f functions) AttemptRevoke(ctx context.Context) error {
	return locks.AttemptRevoke(ctx, f.c, "/x")
}

func (f functions) Do(ctx context.Context) error {
	return locks.Do(ctx, locks.NewInterProcessMutex(f.c, "/x"), func(context.Context) error { return nil })
}

// occupy has a subject of another client stand in the way, and closes the client of one that does not.
func occupy(ctx context.Context, c *framework.Client, subject any) {
	switch s := subject.(type) {
	case functions:
		_, _ = locks.NewInterProcessMutex(s.c, "/x").Acquire(ctx)
	case locks.Lock:
		_, _ = s.Acquire(ctx)
	case *leader.LeaderSelector:
		_, _ = s.Campaign(ctx)
	case *discovery.ServiceDiscovery:
		_, _ = s.Register(ctx, instance)
	case *nodes.PersistentNode, *leader.LeaderLatch:
		_ = s.(interface {
			Start(ctx context.Context) error
		}).Start(ctx)
	default:
		_ = c.Close()
	}
}

// arguments are those of the parameters behind the context, by type.
func arguments(subject any, s framework.Session) map[reflect.Type]reflect.Value {
	by := map[reflect.Type]reflect.Value{}
	for _, v := range []any{
		"/x", []byte("x"), int32(1), int64(1), 1, zk.WorldACL(zk.PermAll), framework.CheckOp("/x", -1),
		[]string{"/x"},
		instance,
		func(context.Context) error { return nil },
	} {
		by[reflect.TypeOf(v)] = reflect.ValueOf(v)
	}
	switch subject := subject.(type) {
	case *discovery.ServiceDiscovery:
		by[reflect.TypeFor[string]()] = reflect.ValueOf("x")
	case *discovery.Registration:
		other := instance
		other.Address = "y"
		by[reflect.TypeOf(other)] = reflect.ValueOf(other)
	case *shared.SharedCount:
		by[reflect.TypeFor[shared.VersionedValue]()] = reflect.ValueOf(subject.VersionedValue())
	}
	by[reflect.TypeFor[framework.Session]()] = reflect.ValueOf(&s).Elem()
	return by
}

var declaration = regexp.MustCompile(`(?m)^func (?:\(\w+ \*?(\w+)\) )?([A-Z]\w*)\(ctx context\.Context.*(?:error\)?|iter\.Seq2.*) \{`)

// declared lists the methods and functions of the packages that users call which have a context and return an error.
func declared(t *testing.T) (names []string) {
	for _, pattern := range []string{"framework/*.go", "framework/session/*.go", "recipes/*/*.go"} {
		files, err := filepath.Glob("../../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %v", pattern, files, err)
		}
		for _, file := range files {
			pkg := filepath.Base(filepath.Dir(file))
			if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(pkg, "test") {
				continue
			}
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range declaration.FindAllStringSubmatch(string(source), -1) {
				receiver, method := m[1], m[2]
				switch {
				case receiver == "":
					names = append(names, "simtest_test.functions."+method)
				case receiver[0] <= 'Z':
					names = append(names, pkg+"."+receiver+"."+method)
				}
			}
		}
	}
	return names
}
