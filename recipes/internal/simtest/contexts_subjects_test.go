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

// subject makes the value of a number: all types that have methods with contexts, fresh and started. It returns nil
// behind the last number.
func subject(ctx context.Context, c *framework.Client, number int) any {
	mutex, services, readWrite := locks.NewInterProcessMutex(c, "/x"), discovery.NewServiceDiscovery(c, "/x"), locks.NewInterProcessReadWriteLock(c, "/x")
	switch number {
	case 0:
		return c
	case 1:
		s, _ := c.Session(ctx)
		return s
	case 2:
		return session.NewWaiter()
	case 3:
		return functions{c}
	case 4:
		return cache.NewCuratorCache(c, "/x")
	case 5:
		return started(ctx, cache.NewCuratorCache(c, "/x"))
	case 6:
		return counters.NewDistributedAtomicInteger(c, "/x")
	case 7:
		return counters.NewDistributedAtomicLong(c, "/x")
	case 8:
		return counters.NewDistributedAtomicLong(c, "/x", counters.WithLock("/y"))
	case 9:
		return services
	case 10:
		r, _ := services.Register(ctx, instance)
		return r
	case 11:
		return services.NewServiceCache("x")
	case 12:
		return started(ctx, services.NewServiceCache("x"))
	case 13:
		return leader.NewLeaderLatch(c, "/x")
	case 14:
		return started(ctx, leader.NewLeaderLatch(c, "/x"))
	case 15:
		return leader.NewLeaderSelector(c, "/x")
	case 16:
		return mutex
	case 17:
		return mutex.Retained()
	case 18:
		return locks.Within(mutex, time.Minute)
	case 19:
		lease, _ := locks.NewInterProcessMutex(c, "/y").Acquire(ctx)
		return lease
	case 20:
		return locks.NewInterProcessSemaphoreMutex(c, "/x")
	case 21:
		return locks.NewInterProcessSemaphoreV2(c, "/x", 1)
	case 22:
		return locks.NewInterProcessSemaphoreV2WithCount(c, "/x", started(ctx, shared.NewSharedCount(c, "/y", 1)))
	case 23:
		return readWrite.ReadLock()
	case 24:
		return readWrite.WriteLock()
	case 25:
		return locks.NewInterProcessMultiLockWithPaths(c, []string{"/y", "/x"})
	case 26:
		return nodes.NewPersistentNode(c, "/x", nil)
	case 27:
		return nodes.NewPersistentNode(c, "/x", nil, nodes.WithMode(framework.EphemeralSequential))
	case 28:
		return nodes.NewPersistentNode(c, "/x", nil, nodes.WithMode(framework.Persistent), nodes.Overwriting())
	case 29:
		return started(ctx, nodes.NewPersistentNode(c, "/y", nil))
	case 30:
		return shared.NewSharedCount(c, "/x", 1)
	case 31:
		return started(ctx, shared.NewSharedCount(c, "/x", 1))
	default:
		return nil
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
		"/x", []byte("x"), int32(1), int64(1), 1, zk.WorldACL(zk.PermAll), framework.CheckOp("/x", -1), []string{"/x"}, instance,
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
