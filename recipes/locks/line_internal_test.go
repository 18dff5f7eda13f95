package locks

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

const lineDir = "/line"

// inLine has a test feed a line of a session by hand. The directory that it watches was created by transaction made.
func inLine(t *testing.T, test func(t *testing.T, l *line, made int64)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := zktest.New(t)
		if err := server.Create(lineDir, nil); err != nil {
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
		l := &line{key: lineKey{session: session, dir: lineDir}, next: -1}
		l.dir = session.WatchData(lineDir, func() {})
		defer session.Unwatch(l.dir)
		synctest.Wait()
		test(t, l, session.View(l.dir).Stat.Czxid)
	})
}

// stat is that of a directory in which so many children were ever created, of which so many are there.
func stat(czxid int64, created, children int32) *zk.Stat {
	return &zk.Stat{Czxid: czxid, Cversion: 2*created - children, NumChildren: children}
}

func lockNode(number int) string { return fmt.Sprintf("%s%010d", mutexMarker, number) }

func TestALineKnowsWhoStandsBefore(t *testing.T) {
	me := node{name: lockNode(4), number: 4}
	const writer = "__WRIT__0000000003"
	for name, test := range map[string]struct {
		hear   func(l *line, made int64)
		ok     bool
		behind int
	}{
		"nothing": {hear: func(*line, int64) {}},
		"a listing without it": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
		}},
		"a listing": {ok: true, behind: 2, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(4), lockNode(5), "stranger", lockNode(2), lockNode(3)}, stat(made, 7, 5))
		}},
		"a listing, and one of it goes": {ok: true, behind: 1, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			l.Gone(lockNode(2))
		}},
		"a newer listing": {ok: true, behind: 0, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			l.Listed([]string{lockNode(4), lockNode(5)}, stat(made, 6, 2))
		}},
		"its own end": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(made, 5, 3))
			l.Gone(lockNode(4))
		}},
		"it entered right after a listing": {ok: true, behind: 2, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
			l.Entered(lockNode(4))
		}},
		"one of a listing went before it entered": {ok: true, behind: 1, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(made, 4, 2))
			l.Gone(lockNode(2))
			l.Entered(lockNode(4))
		}},
		"two of the client entered": {ok: true, behind: 3, hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(1), lockNode(2)}, stat(made, 3, 2))
			l.Entered(lockNode(3))
			l.Entered(lockNode(4))
		}},
		"a writer has gone, then a listing": {ok: true, behind: 1, hear: func(l *line, made int64) {
			l.Listed([]string{writer, lockNode(4)}, stat(made, 5, 2))
			l.Gone(writer)
			l.Listed([]string{"__READ__0000000003", lockNode(4)}, stat(made, 6, 2))
		}},
		"a writer goes after it has entered": {hear: func(l *line, made int64) {
			l.Listed([]string{writer}, stat(made, 4, 1))
			l.Entered(lockNode(4))
			l.Gone(writer)
		}},
		// In each of the others there is, or may be, a node before it that the line lacks.
		"somebody else entered in between": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(1), lockNode(2)}, stat(made, 3, 2))
			l.Entered(lockNode(4))
		}},
		"somebody else entered in between, and it is the second since": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(1)}, stat(made, 2, 1))
			l.Entered(lockNode(3))
			l.Entered(lockNode(4))
		}},
		"the directory was made anew": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(made+7, 4, 2))
			l.Entered(lockNode(4))
		}},
		"the directory was made anew, and it is the second since": {hear: func(l *line, made int64) {
			l.Listed([]string{lockNode(2)}, stat(made+7, 3, 1))
			l.Entered(lockNode(3))
			l.made = made
			l.Entered(lockNode(4))
		}},
		"there has been no listing": {hear: func(l *line, _ int64) { l.Entered(lockNode(4)) }},
		"a writer has gone": {hear: func(l *line, made int64) {
			l.Listed([]string{writer, lockNode(4)}, stat(made, 5, 2))
			l.Gone(writer)
		}},
		"a writer had gone when it entered": {ok: true, hear: func(l *line, made int64) {
			l.Listed([]string{writer}, stat(made, 4, 1))
			l.Gone(writer)
			l.Entered(lockNode(4))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			inLine(t, func(t *testing.T, l *line, made int64) {
				test.hear(l, made)
				turn, ok := l.turn(me)
				if ok != test.ok || turn.behind != test.behind || ok && turn.admitted != (test.behind == 0) {
					t.Errorf("%+v, %v", turn, ok)
				}
				if entry, entered := l.entry(me.name); entered && ok && entry != turn {
					t.Errorf("it was told %+v when it entered", entry)
				}
			})
		})
	}
}

// A writer that has gone may read on; that is nothing to a reader.
func TestAReaderIsAdmittedByTheEndOfAWriter(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, made int64) {
		l.Listed([]string{"__WRIT__0000000003", "__READ__0000000004"}, stat(made, 5, 2))
		l.Gone("__WRIT__0000000003")
		reader := node{name: "__READ__0000000004", shared: true, number: 4}
		if turn, ok := l.turn(reader); !ok || !turn.admitted {
			t.Errorf("%+v, %v", turn, ok)
		}
	})
}

// Whoever has entered is told once, and not after its node has gone.
func TestALineForgetsWhoHasBeenTold(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, made int64) {
		l.Listed(nil, stat(made, 4, 0))
		l.Entered(lockNode(4))
		l.Entered(lockNode(5))
		l.Gone(lockNode(5))
		if turn, ok := l.entry(lockNode(4)); !ok || !turn.admitted {
			t.Errorf("%+v, %v", turn, ok)
		}
		for _, name := range []string{lockNode(4), lockNode(5)} {
			if turn, ok := l.entry(name); ok {
				t.Errorf("%s: %+v", name, turn)
			}
		}
	})
}

func TestTheNumberOfCreations(t *testing.T) {
	for _, test := range []struct{ created, children, want int32 }{
		{0, 0, 0}, {7, 0, 7}, {7, 3, 7}, {1<<30 - 1, 5, 1<<30 - 1}, {1 << 30, 5, -1},
	} {
		if got := created(stat(1, test.created, test.children)); got != test.want {
			t.Errorf("%+v: %d", test, got)
		}
	}
}

func TestARefusedEntryLeavesNoLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Close() }()
		if _, _, err := client.Create(t.Context(), "/e", nil, framework.WithMode(framework.Ephemeral)); err != nil {
			t.Fatal(err)
		}
		if _, err := NewInterProcessMutex(client, "/e").Acquire(t.Context()); err == nil {
			t.Error("an ephemeral node has children")
		}
		time.Sleep(2 * idleTime)
		lines.mu.Lock()
		defer lines.mu.Unlock()
		for key := range lines.byKey {
			if key.dir == "/e" {
				t.Error("its line is left")
			}
		}
	})
}

// Newer servers give the last number again and again.
func TestTheLastNumberTellsNothing(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, made int64) {
		l.made, l.next = made, math.MaxInt32
		l.Entered("lock-2147483647")
		if turn, ok := l.entry("lock-2147483647"); ok {
			t.Errorf("%+v: another one may have had the same number before", turn)
		}
	})
}

// Older ones go on with negative numbers.
func TestANegativeNumberTellsNothing(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, made int64) {
		l.made = made
		l.Entered("lock--000000001")
		if turn, ok := l.entry("lock--000000001"); ok {
			t.Errorf("%+v: there has been no listing", turn)
		}
	})
}

func TestALineThatIsDroppedIsToldNothing(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, _ int64) {
		q, session := &queue{dir: lineDir, opts: &options{}}, l.key.session
		dropped := q.joinLine(session)
		dropped.leave()
		time.Sleep(2 * idleTime)
		if _, err := session.Children(t.Context(), lineDir); err != nil {
			t.Fatal(err)
		}
		if dropped.made != 0 {
			t.Error("it was told of a listing")
		}
	})
}

// It would stand there for ever: nobody watches it.
func TestAStrangerThatIsEnteredDoesNotStandInALine(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, made int64) {
		l.Listed(nil, stat(made, 0, 0))
		l.Entered("stranger")
		l.Entered(lockNode(1))
		if turn, ok := l.entry(lockNode(1)); ok && !turn.admitted {
			t.Errorf("%+v", turn)
		}
	})
}

// The timer of a line may fire although the line has been dropped, and there is another.
func TestALineIsDroppedOnce(t *testing.T) {
	inLine(t, func(t *testing.T, l *line, _ int64) {
		q := &queue{dir: "/other", opts: &options{}}
		old := q.joinLine(l.key.session)
		old.leave()
		time.Sleep(2 * idleTime)
		next := q.joinLine(l.key.session)
		old.drop()
		if again := q.joinLine(l.key.session); again != next {
			t.Error("the next one has gone with it")
		}
		next.leave()
		next.leave()
		time.Sleep(2 * idleTime)
	})
}
