package live_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// Since 3.8.4 and 3.9.2 a server does not even say whether a node exists that may not be read.
func TestReadManySaysWhyANodeIsNotRead(t *testing.T) {
	for version, refuses := range map[string]bool{"3.9.1": false, "3.9.2": true} {
		t.Run(version, func(t *testing.T) { wantReasons(t, version, refuses) })
	}
}

func wantReasons(t *testing.T, version string, refuses bool) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t, zktest.WithVersion(version))
		w := newEnv(t, framework.WithDialer(server.DialContext))
		w.Connected()
		w.Server = server
		w.Make("/there")
		w.Create("/secret", framework.WithACL(zk.WorldACL(zk.PermAll&^zk.PermRead)...))
		before, looks := w.Count(zktest.OpGetData), w.Count(zktest.OpExists)
		var got []session.NodeRead
		for read, err := range w.Session().ReadMany(t.Context(), []string{"/missing", "/secret", "/there"}, session.ReadData) {
			wantErr(t, err)
			must(t, err)
			got = append(got, read)
		}
		if len(got) != 3 {
			t.Fatalf("got %+v, want three nodes", got)
		}
		wantErr(t, got[0].Err, zk.ErrNoNode)
		wantErr(t, got[1].Err, zk.ErrNoAuth)
		if got[0].Stat != nil || (got[1].Stat == nil) != refuses || got[1].Data != nil || got[2].Err != nil || string(got[2].Data) != "1" {
			t.Errorf("got %+v, want no Stat of the missing node, of the secret one unless the server refuses it, and the third", got)
		}
		if reads, exists := w.Count(zktest.OpGetData)-before, w.Count(zktest.OpExists)-looks; reads != 3 || exists != 1 {
			t.Errorf("got %d reads and %d looks, want 3 and 1", reads, exists)
		}
	})
}

// Servers close the connection on it. The nodes behind it are read all the same.
func TestReadManyAsksForNoPathThatIsTooLarge(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		var errs []error
		for read, err := range w.Session().ReadMany(w.Within(time.Minute), []string{"/" + strings.Repeat("x", 2<<20), "/a"}, session.ReadData) {
			wantErr(t, err)
			errs = append(errs, read.Err)
		}
		if len(errs) != 2 || !errors.Is(errs[0], session.ErrTooLarge) || errs[1] != nil {
			t.Errorf("got errors %.200v, want %v for the first of two nodes", errs, session.ErrTooLarge)
		}
		if n := w.Count(zktest.OpGetData); n != 1 {
			t.Errorf("got %d reads, want one", n)
		}
	})
}

// A listings notes what an observer of a directory hears.
type listings struct{ heard [][]string }

func (l *listings) Listed(children []string, _ *zk.Stat) { l.heard = append(l.heard, children) }
func (l *listings) Created(string)                       {}
func (l *listings) Gone(string)                          {}
func (l *listings) Behind()                              {}

func TestReadManyReadsNoMoreThanTheChosenPart(t *testing.T) {
	for name, c := range map[string]struct {
		part  session.NodePart
		op    zktest.Op
		names []string
	}{
		"Stat":     {session.ReadStat, zktest.OpExists, nil},
		"children": {session.ReadChildren, zktest.OpGetChildren2, []string{"00000", "00001", "00002"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *env) {
				fill(t, w.Server, 3, 10)
				var observer listings
				w.Session().ObserveChildren("/many", &observer)
				before := w.Server.Counts()
				var got []session.NodeRead
				for read, err := range w.Session().ReadMany(t.Context(), []string{"/missing", "/many", "/many/00001"}, c.part) {
					wantErr(t, err, nil)
					got = append(got, read)
				}
				if len(got) != 3 {
					t.Fatalf("got %+v, want three nodes", got)
				}
				wantErr(t, got[0].Err, zk.ErrNoNode)
				stat, _ := w.Server.Stat("/many")
				slices.Sort(got[1].Children)
				if got[1].Err != nil || got[1].Path != "/many" || got[1].Data != nil || got[1].Stat == nil || got[1].Stat.Pzxid != stat.Pzxid || !slices.Equal(got[1].Children, c.names) {
					t.Errorf("got %+v, want the Stat %+v and the children %v", got[1], stat, c.names)
				}
				if got[2].Err != nil || got[2].Data != nil || got[2].Stat == nil || len(got[2].Children) != 0 {
					t.Errorf("got %+v, want the Stat alone", got[2])
				}
				after := w.Server.Counts()
				for _, op := range []zktest.Op{zktest.OpGetData, zktest.OpExists, zktest.OpGetChildren2} {
					want := 0
					if op == c.op {
						want = 3
					}
					if n := after[op] - before[op]; n != want {
						t.Errorf("got %d requests %v, want %d", n, op, want)
					}
				}
				if c.names != nil && (len(observer.heard) != 1 || len(observer.heard[0]) != 3) {
					t.Errorf("got %v reported to the directory's observer, want the listing", observer.heard)
				}
			})
		})
	}
}

func TestReadManyOfChildrenThatMayNotBeListedDoesNotAskForTheStat(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Create("/secret", framework.WithACL(zk.WorldACL(zk.PermAll&^zk.PermRead)...))
		before := w.Server.Counts()
		for read, err := range w.Session().ReadMany(t.Context(), []string{"/secret"}, session.ReadChildren) {
			wantErr(t, err, nil)
			wantErr(t, read.Err, zk.ErrNoAuth)
			if read.Stat != nil || read.Children != nil {
				t.Errorf("got %+v, want neither Stat nor children", read)
			}
		}
		after := w.Server.Counts()
		if lists, looks := after[zktest.OpGetChildren2]-before[zktest.OpGetChildren2], after[zktest.OpExists]-before[zktest.OpExists]; lists != 1 || looks != 0 {
			t.Errorf("got %d listings and %d looks for the node, want 1 and none", lists, looks)
		}
	})
}

func TestReadManyOfAnUnknownPartFailsAndAsksForNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		before := w.Server.Counts()
		for _, part := range []session.NodePart{-1, 3} {
			var ends []error
			for _, err := range w.Session().ReadMany(t.Context(), []string{"/", "/"}, part) {
				ends = append(ends, err)
			}
			if len(ends) != 1 || ends[0] == nil {
				t.Errorf("part %d: got rounds %v, want one error", part, ends)
			}
		}
		if after := w.Server.Counts(); !maps.Equal(after, before) {
			t.Errorf("got requests %v, want none more than %v", after, before)
		}
	})
}
