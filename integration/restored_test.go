//go:build unix

package integration_test

import (
	"context"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
	"github.com/gocurator/curator/recipes/locks"
)

// The command restore of ZooKeeper 3.9 puts a snapshot in the place of a server's data, here the same data. All watches
// are gone with the old data, and no connection breaks: the events that waiters rest on never come. So a wait that has
// lasted for a session timeout T reads what it watches again, and a retained lock lists its directory again.
//
// ZooKeeper 3.9.5 does more harm: the thread that ends sessions still looks at the old ones, and no renewal reaches
// these any more. Each session ends T after its last request before the restore, however alive its client is. Sessions
// that are opened later never end by themselves, until the server is restarted. ZooKeeper's documentation asks for
// clients to be kept out during a restore.
//
// So the order of events decides here. The waits begin at 0, the restore comes at T/2, and sessions end between 5/4 T
// and 3/2 T. A waiter that is let in at T is still in the session in which it began to wait. One that hears of nothing
// loses its session, and is let in by its next one.
func TestWaitersOfARestoredServerAreLetInWhileTheirSessionsLast(t *testing.T) {
	const timeout = 12 * time.Second
	server := zookeeper.Start(t, zookeeper.Config{Admin: true})
	short := framework.WithSessionTimeout(timeout)
	a, b, c := newClient(t, server, short), newClient(t, server, short), newClient(t, server, short)
	mutex := func(client *framework.Client) locks.Lock { return locks.NewInterProcessMutex(client, "/mutex") }
	semaphore := func(client *framework.Client) locks.Lock {
		return locks.NewInterProcessSemaphoreV2(client, "/semaphore", 1)
	}
	kept := locks.NewInterProcessMutex(c, "/retained")

	inMutex, inSemaphore := acquireSoon(t, mutex(a)), acquireSoon(t, semaphore(a))
	retained := keepBusy(t, locks.NewInterProcessMutex(a, "/retained").Retained(locks.RetainIdle(time.Minute)))
	began := time.Now()
	waiters := []*restoredWaiter{
		{name: "B at the mutex", client: b, lock: mutex(b)},
		{name: "C at the mutex", client: c, lock: mutex(c)},
		{name: "B at the semaphore", client: b, lock: semaphore(b)},
	}
	for i, w := range waiters {
		w.begin(t)
		if i == 0 {
			awaitChildren(t, a, "/mutex", 2)
		}
	}
	awaitChildren(t, a, "/mutex", 3)
	awaitChildren(t, a, "/semaphore/leases", 2)
	time.Sleep(time.Until(began.Add(timeout / 2)))

	goOn := retained.pause(t)
	server.Restore(server.Snapshot())
	goOn()
	for _, lease := range []*locks.Lease{inMutex, inSemaphore} {
		if err := lease.Release(); err != nil {
			t.Errorf("A: %v", err)
		}
	}
	waiters = append(waiters, &restoredWaiter{name: "C at the retained mutex", client: c, lock: kept, holder: a})
	waiters[3].begin(t)
	for _, w := range waiters {
		w.end(t, began, timeout)
	}
}

// acquireSoon acquires a lock that is free.
func acquireSoon(t *testing.T, lock locks.Lock) *locks.Lease {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, "a lock that is free")
	defer cancel()
	lease, err := lock.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func awaitChildren(t *testing.T, client *framework.Client, path string, want int) {
	t.Helper()
	var got []string
	var err error
	if !await.Within(patience, func() bool { got, _, err = client.Children(t.Context(), path); return len(got) == want }) {
		await.Fatalf(t, "%d nodes in %s: got %v, %v", want, path, got, err)
	}
}

// A restoredWaiter waits, and releases when it is let in.
type restoredWaiter struct {
	name    string
	client  *framework.Client
	holder  *framework.Client // the holder that it waits for, if that does not release by itself
	lock    locks.Lock
	session framework.Session // the one in which it began to wait
	theirs  framework.Session // the holder's at that time
	done    chan error        // has a value once it is let in
}

func (w *restoredWaiter) begin(t *testing.T) {
	t.Helper()
	w.session, w.theirs, w.done = sessionNow(t, w.client), sessionNow(t, w.holder), make(chan error, 1)
	go func() {
		lease, err := w.lock.Acquire(t.Context())
		if err == nil {
			err = lease.Release()
		}
		w.done <- err
	}()
}

func (w *restoredWaiter) end(t *testing.T, began time.Time, timeout time.Duration) {
	t.Helper()
	if err := await.Receive(t, patience, w.name+" to be let in", w.done); err != nil {
		t.Errorf("%s: %v", w.name, err)
	}
	waited := time.Since(began)
	t.Logf("%s was let in after %v", w.name, waited)
	if waited > timeout*3/2 {
		t.Errorf("%s waited until %v after the begin, want at most 3/2 of the session timeout of %v", w.name, waited, timeout)
	}
	if now := sessionNow(t, w.client); now != w.session {
		t.Errorf("%s was let in by session %v, want %v, in which it began to wait", w.name, now, w.session)
	}
	if now := sessionNow(t, w.holder); now != w.theirs {
		t.Errorf("%s was let in when the session of the retained node was over: got %v, want %v", w.name, now, w.theirs)
	}
}

// sessionNow is the session of a client, if there is one, that a server has just answered.
func sessionNow(t *testing.T, client *framework.Client) framework.Session {
	t.Helper()
	if client == nil {
		return nil
	}
	if _, err := client.Exists(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A busyLock is taken again and again until the test ends.
type busyLock struct{ pauses, resumes chan struct{} }

func keepBusy(t *testing.T, lock locks.Lock) *busyLock {
	t.Helper()
	b := &busyLock{make(chan struct{}), make(chan struct{})}
	first, ended := make(chan struct{}, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			if err := locks.Do(ctx, lock, func(context.Context) error { return b.hold(ctx, first) }); err != nil {
				t.Logf("the retained lock: %v", err) // the end of a session is judged elsewhere
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-ended })
	await.Receive(t, patience, "the retained lock", first)
	return b
}

func (b *busyLock) hold(ctx context.Context, first chan<- struct{}) error {
	select {
	case first <- struct{}{}:
	default:
	}
	select {
	case b.pauses <- struct{}{}:
		<-b.resumes
	case <-time.After(10 * time.Millisecond):
	case <-ctx.Done():
	}
	return nil
}

// pause returns when a hold has begun that lasts until goOn is called. Its node does not change meanwhile: a restore
// would bring an old one back.
func (b *busyLock) pause(t *testing.T) (goOn func()) {
	t.Helper()
	await.Receive(t, patience, "a hold of the retained lock", b.pauses)
	return func() { close(b.resumes) }
}
