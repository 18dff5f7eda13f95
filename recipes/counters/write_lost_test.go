package counters_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/counters"
)

// A loss is what gets lost of the first write, and what others do before it is sent again.
type loss struct {
	executed bool // only the answer is lost
	others   func(t *testing.T, server *zktest.Server)
}

func (l loss) happen(t *testing.T, server *zktest.Server) {
	t.Helper()
	second := 1 // counts the writes that arrive
	if l.executed {
		server.DropReply(write)
		second = 2
	} else {
		server.DropRequest(write)
	}
	before(t, server, zktest.OpMulti, func(nth int) {
		if nth == second && l.others != nil {
			l.others(t, server)
		}
	})
}

func writes(numbers ...int64) func(t *testing.T, server *zktest.Server) {
	return func(t *testing.T, server *zktest.Server) {
		for _, n := range numbers {
			number(t, server, n)
		}
	}
}

// recreate makes the node again with a number, after so many writes to it.
func recreate(n int64, writes int) func(t *testing.T, server *zktest.Server) {
	return func(t *testing.T, server *zktest.Server) {
		remove(t, server)
		for range writes + 1 {
			number(t, server, n)
		}
	}
}

// The counter has 5 and version 0 at first.
func TestAnAddThatLosesItsAnswerNeverCountsTwice(t *testing.T) {
	for name, test := range map[string]struct {
		loss
		unknown      bool // want ErrUnknown
		before, left int64
	}{
		"not executed":                            {loss{}, false, 5, 6},
		"executed":                                {loss{executed: true}, true, 0, 6},
		"executed, then another write":            {loss{true, writes(20)}, true, 0, 20},
		"executed, then the same write":           {loss{true, writes(6)}, true, 0, 6},
		"executed, then deleted":                  {loss{true, remove}, true, 0, -1},
		"executed, then made again, version 0":    {loss{true, recreate(30, 0)}, true, 0, 6},
		"executed, then made again, version 1":    {loss{true, recreate(30, 1)}, true, 0, 30},
		"not executed, another write":             {loss{false, writes(20)}, false, 20, 21},
		"not executed, another length":            {loss{false, func(t *testing.T, s *zktest.Server) { put(t, s, nil) }}, false, 0, 1},
		"not executed, the same write":            {loss{false, writes(6)}, true, 0, 6},
		"not executed, two writes":                {loss{false, writes(20, 30)}, true, 0, 30},
		"not executed, two writes, ours the last": {loss{false, writes(20, 6)}, true, 0, 6},
		"not executed, deleted":                   {loss{false, remove}, true, 0, -1},
		"not executed, made again, version 0":     {loss{false, recreate(30, 0)}, true, 0, 6},
		"not executed, made again, version 1":     {loss{false, recreate(30, 1)}, true, 0, 30},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				number(t, server, 5)
				l, _ := newLong(t, server)
				test.happen(t, server)
				before, after, err := l.Add(t.Context(), 1)
				switch {
				case test.unknown:
					wantUnknown(t, err)
					if before != 0 || after != 0 {
						t.Errorf("got %d, %d with an error, want 0, 0", before, after)
					}
				case err != nil || before != test.before || after != before+1:
					t.Errorf("got %d, %d, %v, want %d, %d", before, after, err, test.before, test.before+1)
				}
				if test.left < 0 {
					if server.Exists(path) {
						t.Error("got a node, want none")
					}
					return
				}
				wantNumber(t, server, test.left)
			})
		})
	}
}

// Each of many tries loses its answer. One is executed at most.
func TestTheAnswerOfEachTryMayBeLost(t *testing.T) {
	for tries := range 8 {
		for executed := range tries + 1 { // how many tries are lost on their way; the answers of the others are
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				number(t, server, 5)
				l, _ := newLong(t, server)
				for try := range tries {
					lost := write
					lost.Nth = try + 1
					if try >= executed {
						server.DropReply(lost)
					} else {
						server.DropRequest(lost)
					}
				}
				before, after, err := l.Add(t.Context(), 1)
				if executed < tries {
					wantUnknown(t, err, framework.ErrConnectionLost)
				} else if before != 5 || after != 6 || err != nil {
					t.Errorf("%d tries lost on their way: got %d, %d, %v, want 5, 6", tries, before, after, err)
				}
				wantNumber(t, server, 6)
			})
		}
	}
}

func TestCompareAndSetOrInitializeThatLosesItsAnswerSaysWhatIsKnown(t *testing.T) {
	type call func(ctx context.Context, l *counters.DistributedAtomicLong) (bool, error)
	compare := func(ctx context.Context, l *counters.DistributedAtomicLong) (bool, error) {
		return l.CompareAndSet(ctx, 5, 9)
	}
	initialize := func(ctx context.Context, l *counters.DistributedAtomicLong) (bool, error) {
		return l.Initialize(ctx, 9)
	}
	for name, test := range map[string]struct {
		call
		loss
		want    bool
		unknown bool
		left    int64
	}{
		"compare: not executed":                 {compare, loss{}, true, false, 9},
		"compare: executed":                     {compare, loss{executed: true}, false, true, 9},
		"compare: not executed, another write":  {compare, loss{false, writes(7)}, false, false, 7},
		"compare: not executed, the same write": {compare, loss{false, writes(9)}, false, true, 9},
		"compare: executed, then another write": {compare, loss{true, writes(7)}, false, true, 7},
		// the node is missing at first, and its parent is there
		"not executed":                           {initialize, loss{}, true, false, 9},
		"executed":                               {initialize, loss{executed: true}, false, true, 9},
		"executed, then a write":                 {initialize, loss{true, writes(7)}, false, true, 7},
		"executed, then deleted":                 {initialize, loss{true, remove}, true, false, 9},
		"executed, then another node":            {initialize, loss{true, recreate(7, 0)}, false, false, 7},
		"not executed, another node":             {initialize, loss{false, writes(7)}, false, false, 7},
		"not executed, the same node":            {initialize, loss{false, writes(9)}, false, true, 9},
		"not executed, another node and a write": {initialize, loss{false, writes(7, 8)}, false, true, 8},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				if must(t, server.Create("/numbers", nil)); strings.HasPrefix(name, "compare") {
					number(t, server, 5)
				}
				l, _ := newLong(t, server)
				test.happen(t, server)
				ok, err := test.call(t.Context(), l)
				if test.unknown {
					wantUnknown(t, err, framework.ErrConnectionLost)
				} else if err != nil {
					t.Errorf("got %v, want no error", err)
				}
				if ok != test.want {
					t.Errorf("got %v, want %v", ok, test.want)
				}
				wantNumber(t, server, test.left)
			})
		})
	}
}

// The first Add makes the node with 0: that may be repeated, and happen twice.
func TestAddToAMissingNodeCountsOnceWhateverIsLostOfTheCreation(t *testing.T) {
	for _, op := range []zktest.Op{zktest.OpCreate2, zktest.OpCreateContainer} {
		for _, lose := range []func(*zktest.Server, zktest.Match){(*zktest.Server).DropReply, (*zktest.Server).DropRequest} {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				l, _ := newLong(t, server)
				lose(server, zktest.Match{Op: op})
				wantAdd(t, l, 7, 0, 7)
				wantNumber(t, server, 7)
			})
		}
	}
}

func TestAddToAMissingNodeThatOthersMakeCountsOnTheirs(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		must(t, server.Create("/numbers", nil))
		l, _ := newLong(t, server)
		before(t, server, zktest.OpCreate2, func(int) { number(t, server, 40) })
		wantAdd(t, l, 2, 40, 42)
		wantNumber(t, server, 42)
	})
}

// An overloaded server refuses the write, and has not looked at it.
func TestAThrottledWriteIsSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		number(t, server, 5)
		l, _ := newLong(t, server)
		server.ThrottleRequest(write)
		wantAdd(t, l, 1, 5, 6)
		for nth := range 10 { // more than the retry policy allows
			throttled := write
			throttled.Nth = nth + 1
			server.ThrottleRequest(throttled)
		}
		_, _, err := l.Add(t.Context(), 1)
		if err == nil {
			t.Error("got no error, want that of the server")
		}
		wantCertain(t, err, err)
		wantNumber(t, server, 6)
	})
}
