package live_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

// See treeQuestion.
func TestWhatHappensInTheMiddleOfAQuestionIsHeeded(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile func(t *testing.T, q *questioned, l *listener)
		heard     []string // after the release
		questions int      // executed by the servers
	}{
		"nothing":               {func(*testing.T, *questioned, *listener) {}, []string{"watching"}, 1},
		"the tree ends":         {func(_ *testing.T, q *questioned, l *listener) { q.Session().UnwatchTree("/t", l) }, nil, 1},
		"the tree begins again": {again, []string{"watching"}, 1},
		"the connection is lost, and comes back": {
			func(_ *testing.T, q *questioned, _ *listener) { q.move(0) }, []string{"watching"}, 1,
		},
		"the connection is lost often": {func(_ *testing.T, q *questioned, _ *listener) {
			for i := range 20 { // each question of the five connections
				defer q.Server.HoldRequest(zktest.Match{Op: theQuestion.Op, Path: theQuestion.Path, Nth: i + 1})()
			}
			for range 5 {
				q.move(0)
			}
		}, []string{"watching"}, 1},
		"the session moves": {func(_ *testing.T, q *questioned, _ *listener) { q.move(1) }, []string{"watching"}, 1},
		"the session moves to an older server": {func(_ *testing.T, q *questioned, _ *listener) {
			q.old[q.addrs[1]] = true
			q.move(1)
		}, []string{"refused"}, 0},
		"the connection is lost, and no other comes": {func(_ *testing.T, q *questioned, _ *listener) {
			q.setFull(true)
			q.Link.Reset()
			time.Sleep(time.Second)
		}, nil, 0},
		"the session ends": {func(_ *testing.T, q *questioned, _ *listener) { q.Server.ExpireSession(q.Session().ID()) }, nil, 0},
		"the client is closed": {func(t *testing.T, q *questioned, _ *listener) {
			before := time.Now()
			if err := q.Client.Close(); err != nil || time.Since(before) > 0 {
				t.Errorf("got %v after %v, want the end of the session, and no wait", err, time.Since(before))
			}
		}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				q := newQuestioned(t, 2)
				release := q.Server.HoldRequest(theQuestion)
				l := q.watchTree("/t")
				l.want(t)
				if got := q.Server.Connections(); got != 2 {
					t.Fatalf("got %d connections, want the session's and the question's", got)
				}
				test.meanwhile(t, q, l)
				synctest.Wait()
				questions := 0
				for _, s := range q.Server.Sessions() {
					if s.Connected && s.Timeout < clienttest.SessionTimeout {
						questions++
					}
				}
				if questions > 1 {
					t.Errorf("got %d questions at a time, want one", questions)
				}
				if !slices.Equal(l.words(), test.heard) {
					release()
				}
				l.want(t, test.heard...)
				if slices.Contains(test.heard, "watching") {
					q.Make("/t")
					l.want(t, "+/t")
				}
				release()
				synctest.Wait()
			})
		})
	}
}

// again ends the tree and begins it again.
func again(t *testing.T, q *questioned, l *listener) {
	q.Session().UnwatchTree("/t", l)
	wantErr(t, q.Session().WatchTree("/t", l))
}
