package locks

import (
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
)

// stat is that of a directory in which so many children were ever created, of which so many are there.
func stat(czxid int64, created, children int32) *zk.Stat {
	return &zk.Stat{Czxid: czxid, Cversion: 2*created - children, NumChildren: children}
}

func lockNode(number int) string { return fmt.Sprintf("%s%010d", mutexMarker, number) }

func TestALineKnowsWhoStandsBefore(t *testing.T) {
	me := node{name: lockNode(4), number: 4}
	for name, test := range map[string]struct {
		hear   func(l *line)
		ok     bool
		behind int
	}{
		"nothing": {hear: func(*line) {}},
		"a listing without it": {hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(1, 4, 2))
		}},
		"a listing": {ok: true, behind: 2, hear: func(l *line) {
			l.Listed([]string{lockNode(4), lockNode(5), "stranger", lockNode(2), lockNode(3)}, stat(1, 7, 5))
		}},
		"a listing, and one of it goes": {ok: true, behind: 1, hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(1, 5, 3))
			l.Gone(lockNode(2))
		}},
		"a newer listing": {ok: true, behind: 0, hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(1, 5, 3))
			l.Listed([]string{lockNode(4), lockNode(5)}, stat(1, 6, 2))
		}},
		"its own end": {hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3), lockNode(4)}, stat(1, 5, 3))
			l.Gone(lockNode(4))
		}},
		"it entered right after a listing": {ok: true, behind: 2, hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(1, 4, 2))
			l.Entered(lockNode(4), stat(1, 5, 3))
		}},
		"one of a listing went before it entered": {ok: true, behind: 1, hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(1, 4, 2))
			l.Gone(lockNode(2))
			l.Entered(lockNode(4), stat(1, 5, 2))
		}},
		"two of the client entered": {ok: true, behind: 3, hear: func(l *line) {
			l.Listed([]string{lockNode(1), lockNode(2)}, stat(1, 3, 2))
			l.Entered(lockNode(3), stat(1, 4, 3))
			l.Entered(lockNode(4), stat(1, 5, 4))
		}},
		// The others are what would let two in: each has a node before it that the line lacks.
		"somebody else entered in between": {hear: func(l *line) {
			l.Listed([]string{lockNode(1), lockNode(2)}, stat(1, 3, 2))
			l.Entered(lockNode(4), stat(1, 5, 4))
		}},
		"somebody else entered and went in between": {hear: func(l *line) {
			l.Listed([]string{lockNode(1), lockNode(2)}, stat(1, 3, 2))
			l.Entered(lockNode(4), stat(1, 5, 3))
		}},
		"the directory was made anew": {hear: func(l *line) {
			l.Listed([]string{lockNode(2), lockNode(3)}, stat(1, 4, 2))
			l.Entered(lockNode(4), stat(2, 5, 3))
		}},
		"there has been no listing": {hear: func(l *line) { l.Entered(lockNode(4), stat(1, 1, 1)) }},
		"a writer has gone": {hear: func(l *line) {
			l.Listed([]string{"__WRIT__0000000003", lockNode(4)}, stat(1, 4, 2))
			l.Gone("__WRIT__0000000003")
		}},
		"a writer has gone, then a listing": {ok: true, behind: 1, hear: func(l *line) {
			l.Listed([]string{"__WRIT__0000000003", lockNode(4)}, stat(1, 4, 2))
			l.Gone("__WRIT__0000000003")
			l.Listed([]string{"__READ__0000000003", lockNode(4)}, stat(1, 5, 2))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := &line{}
			test.hear(l)
			turn, ok := l.turn(exclusiveTurn, me)
			if ok != test.ok || turn.behind != test.behind || ok && turn.admitted != (test.behind == 0) {
				t.Errorf("%+v, %v", turn, ok)
			}
		})
	}
}

// A writer that has gone may read on; that is nothing to a reader.
func TestAReaderIsAdmittedByTheEndOfAWriter(t *testing.T) {
	l := &line{}
	l.Listed([]string{"__WRIT__0000000003", "__READ__0000000004"}, stat(1, 5, 2))
	l.Gone("__WRIT__0000000003")
	if turn, ok := l.turn(sharedTurn, node{name: "__READ__0000000004", shared: true, number: 4}); !ok || !turn.admitted {
		t.Errorf("%+v, %v", turn, ok)
	}
}

// The counter of a directory is a 32-bit number, and its Stat has twice as much.
func TestALineIsContinuedWhenTheCounterWraps(t *testing.T) {
	l := &line{}
	l.Listed([]string{lockNode(1<<30 - 1)}, stat(1, 1<<30-1, 1))
	l.Entered(lockNode(1<<30), stat(1, -1<<30, 2))
	if turn, ok := l.turn(exclusiveTurn, node{name: lockNode(1 << 30), number: 1 << 30}); !ok || turn.behind != 1 {
		t.Errorf("%+v, %v", turn, ok)
	}
}
