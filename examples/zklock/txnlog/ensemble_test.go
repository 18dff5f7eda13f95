package txnlog_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

var (
	ensembles    = flag.Int("ensembles", 200, "how many random ensembles are read")
	ensemblesFor = flag.Uint64("ensemble", 0, "read this random ensemble alone, and log it")
)

// Whatever servers have done, and whichever of their files are given: what Open leaves out was not executed. If it
// shows what was not, or lacks what was, a note says that something may be so.
func TestLogOfAnEnsembleIsWhatItHasExecutedOrSaysOtherwise(t *testing.T) {
	said, settled := map[bool]int{}, map[bool]int{}
	first, last := uint64(1), uint64(*ensembles)
	if *ensemblesFor != 0 {
		first, last = *ensemblesFor, *ensemblesFor
	}
	base := t.TempDir()
	for seed := first; seed <= last && !t.Failed(); seed++ {
		r := rand.New(rand.NewPCG(seed, 9))
		dir := filepath.Join(base, fmt.Sprint(seed))
		g := &given{of: newEnsemble(r), r: r, dir: dir, logged: map[int64]bool{}, members: r.IntN(2) == 0}
		if g.choose(); slices.Contains(slices.Collect(maps.Values(g.logged)), true) {
			incomplete, wrong := g.check(t)
			said[incomplete]++
			if g.isSettled() {
				settled[incomplete]++
			}
			for _, text := range wrong {
				t.Errorf("seed %d: %s", seed, text)
			}
			if len(wrong) > 0 || *ensemblesFor != 0 {
				t.Log(g.text())
			}
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d ensembles have a note that something may be missing, %d have none; of those that need none, %d have one, %d none",
		said[true], said[false], settled[true], settled[false])
	if *ensemblesFor == 0 && !t.Failed() && min(said[true], said[false], 5*settled[false]) < *ensembles/12 {
		t.Error("got too few of one kind")
	}
	if settled[true] > 1+settled[false]/100 { // where a leader had got all by a snapshot, or was not followed
		t.Error("got notes where all servers' files have all that was executed, and no more")
	}
}

// check reads the directories, and compares.
func (g *given) check(t *testing.T) (incomplete bool, wrong []string) {
	log, err := txnlog.Open("/", g.dirs...)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[int64]bool{}
	for transaction := range log.Transactions() {
		shown[transaction.Zxid] = true
	}
	g.notes = notes(log)
	for zxid := range g.of.begins {
		shown[zxid] = g.of.executed[zxid] // it changes no node, and is not shown
	}
	for _, zxid := range slices.Sorted(maps.Keys(g.logged)) {
		if g.logged[zxid] && !shown[zxid] && g.of.executed[zxid] {
			wrong = append(wrong, fmt.Sprintf("%#x was executed, stands in a log, and is left out", zxid))
		}
		if shown[zxid] && !g.of.executed[zxid] && !log.Incomplete {
			wrong = append(wrong, fmt.Sprintf("%#x was not executed, and no note says so", zxid))
		}
	}
	for zxid := range g.of.executed {
		if !shown[zxid] && zxid > log.First.Zxid && zxid < log.Last.Zxid && !log.Incomplete {
			wrong = append(wrong, fmt.Sprintf("%#x was executed, is in no log, and no note says so", zxid))
		}
	}
	return log.Incomplete, wrong
}

// isSettled reports whether all files of all servers are given, and the logs and snapshots have no more than what was
// executed, of which most servers have logged the newest.
func (g *given) isSettled() bool {
	refused := func(zxid int64) bool { return uint32(zxid) != 0 && !g.of.executed[zxid] }
	newest := slices.Max(append(slices.Collect(maps.Keys(g.of.executed)), 0))
	have := 0
	zxids := slices.Collect(maps.Keys(g.logged))
	for _, m := range g.of.members {
		zxids = slices.AppendSeq(zxids, maps.Keys(m.snapshots))
		if n := len(m.logs); n > 0 && slices.Contains(m.logs[n-1], newest) {
			have++
		}
	}
	return g.whole && g.members && have >= g.of.most() && !slices.ContainsFunc(zxids, refused)
}

// given are the files that a reader has of an ensemble.
type given struct {
	of      *ensemble
	r       *rand.Rand
	dir     string
	dirs    []string
	logged  map[int64]bool
	members bool // the servers' numbers are there
	whole   bool // nothing is missing, and the servers agree
	notes   []string
	lines   []string
}

// The ways in which the logs and the snapshots of all servers are given.
const (
	together = iota
	dataLogDirs
	apart
	movedLogs
	mixed
	layouts
)

// choose gives files of all servers, of all but one, or of one.
func (g *given) choose() {
	left := g.of.r.Perm(len(g.of.members))
	g.whole = g.r.IntN(3) == 0
	if g.whole {
		for i, m := range g.of.members {
			g.give(i, m, together)
		}
		return
	}
	layout, purges := max(0, g.r.IntN(2*layouts)-layouts), g.r.IntN(2) == 0
	switch g.r.IntN(8) {
	case 0:
		left = left[:1]
	case 1, 2:
		left = left[1:]
	}
	for _, i := range left {
		m := g.of.members[i].clone()
		older := g.of.members[i].copies
		switch {
		case len(older) > 0 && g.r.IntN(3) == 0:
			m = older[g.r.IntN(len(older))].clone()
		case len(older) > 0 && layout == together && g.members && g.r.IntN(3) == 0:
			g.give(i, older[0].clone(), together)
		}
		if purges {
			m.purge(g.r)
		}
		kind := layout
		if layout == mixed {
			kind = []int{together, dataLogDirs}[g.r.IntN(2)]
		}
		g.give(i, m, kind)
		if len(m.logs) > 0 && g.r.IntN(8) == 0 { // a copy of it
			g.give(i, m, kind)
		}
	}
}

func (g *given) give(i int, m *member, layout int) {
	g.lines = append(g.lines, fmt.Sprintf("server %d, layout %d: logs %x, snapshots %x", i, layout, m.logs, slices.Sorted(maps.Keys(m.snapshots))))
	logs := g.newDir(i, layout != dataLogDirs)
	snapshots := logs
	switch layout {
	case together:
		g.writeLogs(logs, m.logs)
	case apart:
		g.writeLogs(logs, m.logs)
		snapshots = g.newDir(i, true)
		_ = os.Remove(filepath.Join(filepath.Dir(logs), "myid")) // it is where the snapshots are
	case movedLogs:
		moved := g.r.IntN(len(m.logs) + 1)
		g.writeLogs(logs, m.logs[:moved])
		g.writeLogs(g.newDir(i, false), m.logs[moved:])
	default:
		g.writeLogs(logs, m.logs)
		return
	}
	for zxid, tree := range m.snapshots {
		var nodes []snapNode
		for _, n := range tree {
			nodes = append(nodes, snapNode{fmt.Sprintf("/%x", n), "", n, 7})
		}
		g.write(snapshots, fmt.Sprintf("snapshot.%x", zxid), snapshotOf(nodes...))
	}
}

func (g *given) newDir(i int, isDataDir bool) string {
	dir := filepath.Join(g.dir, fmt.Sprint(len(g.dirs)), "version-2")
	g.dirs = append(g.dirs, dir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		panic(err)
	}
	if g.members && isDataDir {
		g.write(filepath.Dir(dir), "myid", fmt.Appendf(nil, "%d\n", i+1))
	}
	return dir
}

func (g *given) writeLogs(dir string, logs [][]int64) {
	for n, log := range logs {
		content, kept := header(), len(log)
		isCut := !g.whole && n < len(logs)-1 && g.r.IntN(60) == 0
		if isCut {
			kept = g.r.IntN(len(log))
		}
		for i, zxid := range log {
			g.logged[zxid] = g.logged[zxid] || i < kept
			one := made(zxid, 7, fmt.Sprintf("/%x", zxid))
			if number, ok := g.of.begins[zxid]; ok {
				one = record{zxid: zxid, session: int64(number) << 56, kind: createSession}
			}
			if before := len(content); i <= kept {
				content = one.appendTo(content)
				if i == kept {
					content = content[:before+1+g.r.IntN(len(content)-before-1)]
				}
			}
		}
		if !isCut {
			content = append(content, make([]byte, 100)...)
		}
		g.write(dir, fmt.Sprintf("log.%x", log[0]), content)
	}
}

func (g *given) write(dir, name string, content []byte) {
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		panic(err)
	}
}

func (g *given) text() string {
	return fmt.Sprintf("%s\nexecuted %x\nnotes\n\t%s", strings.Join(g.lines, "\n"), slices.Sorted(maps.Keys(g.of.executed)), strings.Join(g.notes, "\n\t"))
}
