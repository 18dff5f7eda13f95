//go:build unix

package integration_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A thread of the server has read A's create, and stands still before it queues the request:
//
//  1. The connection breaks. A's session goes on with another connection, which another thread serves.
//  2. A's fence is answered, the listing behind it shows no node, and A creates another one. A holds, and releases.
//  3. The first thread goes on. The server executes the old create: it checks that the session is connected to this
//     server, and does not ask by which connection.
//
// A knows nothing of the late node, which is of its session. B must not wait until that session ends.
func TestACreateThatARealServerExecutesLateKeepsNobodyOut(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{StalledCreates: true})
	observer := newClient(t, server)
	for _, c := range stalledCreates() {
		for _, late := range c.late {
			t.Run(fmt.Sprintf("%s/%v", c.name, late), func(t *testing.T) {
				t.Parallel()
				session := framework.WithSessionTimeout(lawTimeout())
				r := &stalledRun{
					stalledCreate: c, path: fmt.Sprintf("/stalled/%s/%d/%s", c.request, late.Milliseconds(), c.name),
					a: newClient(t, server, session), b: newClient(t, server, session), observer: observer,
				}
				r.run(t)
			})
		}
	}
}

// A stalledCreate is what A does, and what B has to get then.
type stalledCreate struct {
	name      string
	request   string // the request that java/StalledCreates.java stalls, among those that create ephemeral nodes
	late      []time.Duration
	dirs      []string // those below the path in which a create is stalled
	creations int32    // in each of them, with the late one
	first     func(ctx context.Context, t *testing.T, r *stalledRun) error
	acquire   acquisition
}

// An acquisition acquires, and returns how to release.
type acquisition func(ctx context.Context, client *framework.Client, path string) (release func() error, err error)

func stalledCreates() []stalledCreate {
	all := []stalledCreate{
		{name: "mutex", acquire: acquireMutex},
		{name: "semaphore", acquire: acquireSemaphore, dirs: []string{"/leases", "/locks"}},
		{name: "reader", first: acquireAndRelease(acquireReader), acquire: acquireWriter},
		{name: "writer", acquire: acquireWriter},
		{name: "latch", acquire: leadByLatch},
		{name: "selector", acquire: leadBySelector},
		{name: "mutex given up", first: giveUp, acquire: acquireMutex, late: []time.Duration{3 * time.Second / 2}},
		{
			name: "reader of a writer", first: acquireBeside, acquire: acquireWriter, late: []time.Duration{3 * time.Second / 2},
			request: "multi", creations: 3,
		},
	}
	for i := range all {
		c := &all[i]
		if c.late == nil {
			c.late = []time.Duration{60 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second / 2}
		}
		if c.first == nil {
			c.first = acquireAndRelease(c.acquire)
		}
		if c.request == "" {
			c.request, c.creations = "create", 2
		}
		if c.dirs == nil {
			c.dirs = []string{""}
		}
	}
	return all
}

type stalledRun struct {
	stalledCreate
	path           string
	a, b, observer *framework.Client
}

func (r *stalledRun) run(t *testing.T) {
	for _, dir := range r.dirs { // persistent, since a container that is deleted and created again counts from 0
		if _, _, err := r.observer.Create(t.Context(), r.path+dir, nil, framework.CreatingParentsIfNeeded()); err != nil {
			t.Fatal(err)
		}
	}
	session, err := r.a.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := await.Context(t.Context(), t, patience, "A's part")
	defer cancel()
	if err := r.first(ctx, t, r); err != nil {
		t.Fatalf("A: %v", err)
	}
	r.awaitLate(t)

	began := time.Now()
	ctx, cancel = context.WithTimeout(t.Context(), 4*lawTimeout())
	defer cancel()
	release, err := r.acquire(ctx, r.b, r.path)
	if err != nil {
		t.Fatalf("A, of session %#x, has released: got the nodes %v left, want none; B: %v", session.ID(), r.nodes(t), err)
	}
	t.Logf("B was let in after %v", time.Since(began))
	if err := release(); err != nil {
		t.Errorf("B: %v", err)
	}
	if now, err := r.a.Session(t.Context()); now != session {
		t.Errorf("A: got session %v, %v, want %v for the whole test", now, err, session)
	}
	if !await.Within(patience, func() bool { return len(r.nodes(t)) == 0 }) {
		t.Errorf("got the nodes %v left, want none", r.nodes(t))
	}
}

// awaitLate blocks until the server has executed the late create in each directory. The numbers of nodes show only what
// is there; their parents know how many were created.
func (r *stalledRun) awaitLate(t *testing.T) {
	t.Helper()
	for _, dir := range r.dirs {
		var stat *zk.Stat
		var err error
		if !await.Within(patience, func() bool {
			stat, err = r.observer.Exists(t.Context(), r.path+dir)
			return err != nil || (stat.Cversion+stat.NumChildren)/2 >= r.creations
		}) || err != nil {
			await.Fatalf(t, "creation number %d in %s, the late one: got %+v, %v", r.creations, r.path+dir, stat, err)
		}
	}
}

func (r *stalledRun) nodes(t *testing.T) (all []string) {
	t.Helper()
	for _, dir := range r.dirs {
		names, _, err := r.observer.Children(t.Context(), r.path+dir)
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			path := r.path + dir + "/" + name
			if stat, err := r.observer.Exists(t.Context(), path); err != nil {
				t.Error(err)
			} else if stat != nil {
				all = append(all, fmt.Sprintf("%s of session %#x", strings.TrimPrefix(path, r.path+"/"), stat.EphemeralOwner))
			}
		}
	}
	return all
}

// acquireAndRelease is the plain case.
func acquireAndRelease(acquire acquisition) func(ctx context.Context, t *testing.T, r *stalledRun) error {
	return func(ctx context.Context, _ *testing.T, r *stalledRun) error {
		release, err := acquire(ctx, r.a, r.path)
		if err != nil {
			return err
		}
		return release()
	}
}

// giveUp has A give up when its connection breaks, and look for its node once. B's create lets the thread go on.
func giveUp(ctx context.Context, _ *testing.T, r *stalledRun) error {
	patient, impatient := context.WithCancel(ctx)
	defer impatient()
	stop := r.a.OnStateChange(func(now framework.StateChange) {
		if now.State == framework.StateSuspended {
			impatient()
		}
	})
	defer stop()
	release, err := acquireMutex(patient, r.a, r.path)
	switch {
	case err == nil: // it has created another node sooner than it heard of the break: the plain case
		return release()
	case !errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return err
	}
	if release, err = acquireMutex(ctx, r.b, r.path); err != nil {
		return err
	}
	return release()
}

// acquireBeside has A become a reader while it is a writer. The transaction checks that the writer's node is there, so
// A keeps it until the late one is executed.
func acquireBeside(ctx context.Context, t *testing.T, r *stalledRun) error {
	lock := locks.NewInterProcessReadWriteLock(r.a, r.path)
	writer, err := lock.WriteLock().Acquire(ctx)
	if err != nil {
		return err
	}
	reader, err := lock.ReadLock().Acquire(writer.Context(ctx))
	if err != nil {
		return err
	}
	if err := reader.Release(); err != nil {
		return err
	}
	r.awaitLate(t)
	return writer.Release()
}

func acquireMutex(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	return acquireLock(ctx, locks.NewInterProcessMutex(client, path))
}

func acquireSemaphore(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	return acquireLock(ctx, locks.NewInterProcessSemaphoreV2(client, path, 1))
}

func acquireReader(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	return acquireLock(ctx, locks.NewInterProcessReadWriteLock(client, path).ReadLock())
}

func acquireWriter(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	return acquireLock(ctx, locks.NewInterProcessReadWriteLock(client, path).WriteLock())
}

func acquireLock(ctx context.Context, lock locks.Lock) (release func() error, err error) {
	lease, err := lock.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return lease.Release, nil
}

func leadByLatch(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	latch := leader.NewLeaderLatch(client, path)
	if err := latch.Start(ctx); err != nil {
		return nil, err
	}
	if _, err := latch.Await(ctx); err != nil {
		_ = latch.Close() // it does not lead
		return nil, err
	}
	return latch.Close, nil
}

func leadBySelector(ctx context.Context, client *framework.Client, path string) (release func() error, err error) {
	term, err := leader.NewLeaderSelector(client, path).Campaign(ctx)
	if err != nil {
		return nil, err
	}
	return term.Release, nil
}
