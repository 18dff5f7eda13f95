package queue

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/journaltest"
)

const viewDir = "/view"

// withView has a test feed a view of a session by hand. The directory that it watches was created by transaction made.
func withView(t *testing.T, test func(t *testing.T, v *sharedView, made int64)) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		if err := server.Create(viewDir, nil); err != nil {
			t.Fatal(err)
		}
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		session, err := client.Session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		v := &sharedView{registry: RegistryOf(client), key: viewKey{session: session, dir: viewDir}, view: View{Markers: newMarkers(LockMarkers())}, unlisted: Unlisted{Next: -1}}
		v.unlisted.dirWatch = session.WatchData(viewDir, func() {})
		defer v.unlisted.dirWatch.Stop()
		synctest.Wait()
		test(t, v, v.unlisted.dirWatch.View().Stat.Czxid)
	})
}

// stat is that of a directory in which so many children were ever created, of which so many are there.
func stat(czxid int64, created, children int32) *zk.Stat {
	return &zk.Stat{Czxid: czxid, Cversion: 2*created - children, NumChildren: children}
}

// knows has a view know that the next number is n, as after a node of its own and a listing.
func (v *sharedView) knows(made int64, n int) {
	v.Listed(nil, stat(made, int32(n), 0))
	v.Created(lockNode(n - 1))
}

func lockNode(number int) string { return fmt.Sprintf("%s%010d", MutexMarker, number) }

func TestAViewKnowsWhichNodesAreAhead(t *testing.T) {
	me := Node{Name: lockNode(4), number: 4}
	const writer = "__WRIT__0000000003"
	for name, test := range map[string]struct {
		hear   func(v *sharedView, made int64)
		ok     bool
		behind int
	}{
		"nothing": {hear: func(*sharedView, int64) {}},
		"a listing without it": {hear: func(v *sharedView, made int64) {
			v.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
		}},
		"a listing": {ok: true, behind: 2, hear: func(v *sharedView, made int64) {
			v.Listed([]string{lockNode(4), lockNode(5), "stranger", lockNode(2), lockNode(3)}, stat(made, 7, 5))
		}},
		"a listing, and one of it goes": {ok: true, behind: 1, hear: func(v *sharedView, made int64) {
			v.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			v.Gone(lockNode(2))
		}},
		"a newer listing": {ok: true, behind: 0, hear: func(v *sharedView, made int64) {
			v.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			v.Listed([]string{lockNode(4), lockNode(5)}, stat(made, 6, 2))
		}},
		"its own end": {hear: func(v *sharedView, made int64) {
			v.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			v.Gone(lockNode(4))
		}},
		"it entered right after a listing": {ok: true, behind: 2, hear: func(v *sharedView, made int64) {
			v.knows(made, 4)
			v.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
			v.Created(lockNode(4))
		}},
		"one of a listing went before it entered": {ok: true, behind: 1, hear: func(v *sharedView, made int64) {
			v.knows(made, 4)
			v.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
			v.Gone(lockNode(2))
			v.Created(lockNode(4))
		}},
		"two of the client entered": {ok: true, behind: 3, hear: func(v *sharedView, made int64) {
			v.knows(made, 3)
			v.Listed([]string{lockNode(1), lockNode(2)}, stat(made, 3, 2))
			v.Created(lockNode(3))
			v.Created(lockNode(4))
		}},
		"a writer has gone, then a listing": {ok: true, behind: 1, hear: func(v *sharedView, made int64) {
			v.Listed([]string{writer, lockNode(4)}, stat(made, 5, 2))
			v.Gone(writer)
			v.Listed([]string{"__READ__0000000003", lockNode(4)}, stat(made, 6, 2))
		}},
		"a writer goes after it has entered": {hear: func(v *sharedView, made int64) {
			v.knows(made, 4)
			v.Listed([]string{writer}, stat(made, 4, 1))
			v.Created(lockNode(4))
			v.Gone(writer)
		}},
		// In each of the others there is, or may be, a node before it that the view lacks.
		"a node of another session came in between": {hear: func(v *sharedView, made int64) {
			v.knows(made, 3)
			v.Listed([]string{lockNode(1), lockNode(2)}, stat(made, 3, 2))
			v.Created(lockNode(4))
		}},
		"a node of another session came in between, and it is the second since": {hear: func(v *sharedView, made int64) {
			v.knows(made, 2)
			v.Listed([]string{lockNode(1)}, stat(made, 2, 1))
			v.Created(lockNode(3))
			v.Created(lockNode(4))
		}},
		"a node of another session came in between, and a change was counted as a creation": {hear: func(v *sharedView, made int64) {
			v.knows(made, 3)
			v.Listed([]string{lockNode(1), lockNode(2)}, stat(made, 4, 2)) // 3 is next, and another session's
			v.Created(lockNode(4))
		}},
		"a listing from before others entered, and of another directory": {hear: func(v *sharedView, made int64) {
			v.knows(made+7, 4)
			v.Listed(nil, stat(made, 4, 0))
			v.Created(lockNode(4))
		}},
		"the directory is a new one": {hear: func(v *sharedView, made int64) {
			v.knows(made+7, 4)
			v.Listed([]string{lockNode(2), lockNode(3)}, stat(made+7, 4, 2))
			v.Created(lockNode(4))
		}},
		"the directory is a new one, and it is the second since": {hear: func(v *sharedView, made int64) {
			v.knows(made+7, 3)
			v.Listed([]string{lockNode(2)}, stat(made+7, 3, 1))
			v.Created(lockNode(3))
			v.unlisted.DirCzxid = made
			v.Created(lockNode(4))
		}},
		"there has been no listing": {hear: func(v *sharedView, _ int64) { v.Created(lockNode(4)) }},
		"a writer has gone": {hear: func(v *sharedView, made int64) {
			v.Listed([]string{writer, lockNode(4)}, stat(made, 5, 2))
			v.Gone(writer)
		}},
		"a writer had gone when it entered": {ok: true, hear: func(v *sharedView, made int64) {
			v.knows(made, 4)
			v.Listed([]string{writer}, stat(made, 4, 1))
			v.Gone(writer)
			v.Created(lockNode(4))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withView(t, func(t *testing.T, v *sharedView, made int64) {
				test.hear(v, made)
				turn, ok := v.decision(me)
				if ok != test.ok || turn.Ahead != test.behind || ok && turn.Admitted != (test.behind == 0) {
					t.Errorf("%+v, %v", turn, ok)
				}
				if entry, entered := v.entryDecision(me.Name); entered && ok && entry != turn {
					t.Errorf("got %+v when it entered", entry)
				}
			})
		})
	}
}

// A writer that has gone may read on; that is nothing to a reader.
func TestAReaderIsAdmittedByTheEndOfAWriter(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, made int64) {
		v.Listed([]string{"__WRIT__0000000003", "__READ__0000000004"}, stat(made, 5, 2))
		v.Gone("__WRIT__0000000003")
		reader := Node{Name: "__READ__0000000004", Shared: true, number: 4}
		if turn, ok := v.decision(reader); !ok || !turn.Admitted {
			t.Errorf("%+v, %v", turn, ok)
		}
	})
}

func TestARefusedEntryLeavesNoView(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		if _, _, err := client.Create(t.Context(), "/e", nil, framework.WithMode(framework.Ephemeral)); err != nil {
			t.Fatal(err)
		}
		var events journaltest.Journal
		events.Attach(client, "client")
		q := New(Config{Source: client, Dir: "/e", Marker: MutexMarker, Counts: LockMarkers()})
		if _, _, err := q.Acquire(t.Context()); err == nil {
			t.Error("got no error for a queue below an ephemeral node, want one")
		}
		time.Sleep(2 * idleTime)
		if events := events.Events(); len(events) == 0 || len(journaltest.Left(events)) > 0 {
			t.Errorf("got %d steps, and %q left, want some, and nothing", len(events), journaltest.Left(events))
		}
	})
}

func TestAViewThatIsDroppedHearsNothing(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, _ int64) {
		q, session := New(Config{Dir: viewDir, Marker: MutexMarker, Counts: LockMarkers()}), v.key.session
		q.Registry = v.registry
		dropped := q.joinView(session)
		dropped.leave()
		time.Sleep(2 * idleTime)
		if _, _, err := session.Children(t.Context(), viewDir); err != nil {
			t.Fatal(err)
		}
		if dropped.unlisted.DirCzxid != 0 {
			t.Errorf("got a listing of %#x at a dropped view, want none", dropped.unlisted.DirCzxid)
		}
	})
}

// The timer of a view may fire although the view has been dropped, and there is another.
func TestAViewIsDroppedOnce(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, _ int64) {
		q := New(Config{Dir: "/other", Marker: MutexMarker, Counts: LockMarkers()})
		q.Registry = v.registry
		old := q.joinView(v.key.session)
		old.leave()
		time.Sleep(2 * idleTime)
		next := q.joinView(v.key.session)
		old.drop()
		if again := q.joinView(v.key.session); again != next {
			t.Error("got another view, want the one that was joined before")
		}
		next.leave()
		next.leave()
		time.Sleep(2 * idleTime)
	})
}

// What a server that is behind says later, that a node is missing for instance, would make a view wrong that stayed.
func TestAViewKnowsNothingWhenItsServersMayBeBehindIt(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, made int64) {
		v.knows(made, 7)
		v.Listed([]string{lockNode(6)}, stat(made, 7, 1))
		me := Node{Name: lockNode(6), number: 6}
		if _, known := v.decision(me); !known || v.unlisted.Next != 7 {
			t.Fatalf("after a listing: got decided %v, next %d; want true, 7", known, v.unlisted.Next)
		}
		v.Behind()
		if _, known := v.decision(me); known || v.unlisted.Next >= 0 {
			t.Errorf("got decided %v, next %d; want false, and no number", known, v.unlisted.Next)
		}
	})
}

// The timer is not moved at each cycle: when it fires it looks for how long the view has been idle.
func TestAViewIsKeptForASecondAfterItsLastContender(t *testing.T) {
	withView(t, func(t *testing.T, v *sharedView, _ int64) {
		q := New(Config{Dir: "/other", Marker: MutexMarker, Counts: LockMarkers()})
		q.Registry = v.registry
		busy := q.joinView(v.key.session)
		busy.leave()
		for range 10 {
			time.Sleep(idleTime * 3 / 4)
			if again := q.joinView(v.key.session); again != busy {
				t.Fatal("got another view of a busy queue, want the same")
			}
			busy.leave()
		}
		time.Sleep(idleTime / 2)
		if again := q.joinView(v.key.session); again != busy {
			t.Fatal("got another view after half a second, want the same")
		}
		time.Sleep(2 * idleTime) // the timer finds a contender
		busy.leave()
		time.Sleep(idleTime - 1)
		v.registry.mu.Lock()
		kept := v.registry.views[busy.key] == busy
		v.registry.mu.Unlock()
		time.Sleep(time.Millisecond)
		v.registry.mu.Lock()
		dropped := v.registry.views[busy.key] == nil
		v.registry.mu.Unlock()
		if !kept || !dropped {
			t.Errorf("got the view kept within the second: %t, dropped after it: %t; want both", kept, dropped)
		}
	})
}
