package history_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/examples/zklock/txnlog"
	"github.com/gocurator/curator/framework/zktest"
)

func i32(to []byte, n int) []byte { return binary.BigEndian.AppendUint32(to, uint32(int32(n))) }

func i64(to []byte, n int64) []byte { return binary.BigEndian.AppendUint64(to, uint64(n)) }

func text(to []byte, s string) []byte { return append(i32(to, len(s)), s...) }

// record is a transaction as a server writes it. listed says that the ends of sessions name their nodes, as servers do
// since 3.6.
func record(t zktest.Transaction, listed bool) []byte {
	kind, body := -10, i32(nil, 4000) // the begin of a session
	switch {
	case t.Failed:
		kind, body = -1, i32(nil, -101)
	case t.EndsSession && listed:
		kind, body = -11, i32(nil, len(t.Changes))
		for _, c := range t.Changes {
			body = text(body, c.Path)
		}
	case t.EndsSession:
		kind, body = -11, nil
	case len(t.Changes) == 1:
		kind, body = part(t.Changes[0])
	case len(t.Changes) > 1:
		kind, body = 14, i32(nil, len(t.Changes))
		for _, c := range t.Changes {
			op, fields := part(c)
			body = append(i32(i32(body, op), len(fields)), fields...)
		}
	}
	r := i64(i64(i32(i64(nil, t.Session), int(t.Request)), t.Zxid), t.At.UnixMilli())
	r = append(i32(r, kind), body...)
	framed := i32(i64(nil, int64(adler32.Checksum(r))), len(r))
	return append(append(framed, r...), 'B')
}

func part(c zktest.Change) (kind int, body []byte) {
	world := func(to []byte) []byte { return text(text(i32(i32(to, 1), 31), "world"), "anyone") }
	switch c.Kind {
	case zktest.Created:
		body = world(text(text(nil, c.Path), string(c.Data)))
		if c.Owner != 0 {
			return 15, i32(append(body, 1), 0)
		}
		return 15, i32(append(body, 0), 0)
	case zktest.Deleted:
		return 2, text(nil, c.Path)
	case zktest.DataSet:
		return 5, i32(text(text(nil, c.Path), string(c.Data)), 1)
	default:
		return 7, i32(world(text(nil, c.Path)), 1)
	}
}

// snapshot is one that a server began after the first begin transactions and finished after end of them: each node is
// as it was at some moment in between.
func snapshot(all []zktest.Transaction, begin, end int, random *rand.Rand) []byte {
	s := i64(i32([]byte("ZKSN"), 2), -1)
	s = i32(s, 0)                 // sessions
	s = i32(i64(i32(s, 1), 1), 0) // one empty ACL
	lives := map[string][]life{}
	for i, t := range all[:end] {
		for _, c := range t.Changes {
			switch c.Kind {
			case zktest.Created:
				lives[c.Path] = append(lives[c.Path], life{from: i, to: len(all), made: t, change: c})
			case zktest.Deleted:
				if n := len(lives[c.Path]); n > 0 {
					lives[c.Path][n-1].to = i
				}
			default:
			}
		}
	}
	node := func(path string, l life) {
		s = i64(text(text(s, path), string(l.change.Data)), 1)
		s = i64(i64(s, l.made.Zxid), l.made.Zxid)
		s = i64(i64(s, l.made.At.UnixMilli()), 0)
		s = i64(i32(i32(i32(s, 0), 0), 0), l.change.Owner)
		s = i64(s, 0)
	}
	node("", life{})
	for path, all := range lives {
		moment := begin + random.IntN(end-begin+1) // how many transactions it has seen
		for _, l := range all {
			if l.from < moment && moment <= l.to {
				node(path, l)
			}
		}
	}
	s = text(s, "/")
	return text(i64(s, int64(adler32.Checksum(s))), "/")
}

// A life is a node from its creation to its deletion, by the numbers of the transactions.
type life struct {
	from, to int
	made     zktest.Transaction
	change   zktest.Change
}

// write writes transactions as the files of a server whose first ones were removed. It returns the first that is left.
func write(t *testing.T, dir string, all []zktest.Transaction, listed bool, random *rand.Rand) (first int64) {
	t.Helper()
	begin := random.IntN(len(all))
	end := min(begin+random.IntN(20), len(all))
	from := 0 // the logs begin here; the snapshot lies just before them, or in them
	switch {
	case !listed: // a node that the snapshot misses, and that goes with its session, is in no file
		from, end = begin, begin
	case begin > 0:
		from = begin - random.IntN(2)*random.IntN(begin)
	}
	file := func(name string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if begin > 0 {
		file(fmt.Sprintf("snapshot.%x", all[begin-1].Zxid), snapshot(all, begin, end, random))
	}
	var log []byte
	name := ""
	for i, one := range all[from:] {
		if i == 0 || random.IntN(10) == 0 {
			if name != "" {
				file(name, append(log, make([]byte, random.IntN(2)*(12+random.IntN(100)))...))
			}
			name, log = fmt.Sprintf("log.%x", one.Zxid), append(i32([]byte("ZKLG"), 2), make([]byte, 8)...)
		}
		log = append(log, record(one, listed)...)
	}
	file(name, log)
	return all[from].Zxid
}

// Files that begin in the middle, and a fuzzy snapshot, give the same history from there on as all transactions.
func TestFilesGiveTheHistoryOfWhatTheyHave(t *testing.T) {
	collectLess(t)
	for i := range *histories {
		seed := *firstSeed + uint64(i)
		var all []zktest.Transaction
		zktest.Bubble(t, func(t *testing.T) { all = playRandom(t, seed).transactions() })
		random := rand.New(rand.NewPCG(seed, 9))
		dir, listed := t.TempDir(), random.IntN(4) > 0
		first := write(t, dir, all, listed, random)
		want := history.Of("/l", slices.Values(all), history.Options{Limit: limit})
		got, err := history.Read("/l", []string{dir}, 0, history.Options{Limit: limit})
		if err != nil && !errors.Is(err, history.ErrNoLock) || len(got.Notes) > 0 || got.To.Zxid != all[len(all)-1].Zxid {
			t.Fatalf("seed %d: got %v, %v, to %v", seed, err, got.Notes, got.To)
		}
		compareHistories(t, seed, got, want, first)
		if t.Failed() {
			return
		}
	}
}

// compareHistories compares what ended, or began, at the first transaction of the logs or later.
func compareHistories(t *testing.T, seed uint64, got, want *history.History, first int64) {
	t.Helper()
	found := map[string]history.Contender{}
	for _, lock := range got.Locks {
		for _, c := range lock.Contenders {
			found[c.Path] = c
		}
	}
	since := func(m txnlog.Moment) int64 {
		if m.Zxid < first {
			return 0
		}
		return m.Zxid
	}
	for _, lock := range want.Locks {
		for _, w := range lock.Contenders {
			if w.Ended.Zxid != 0 && w.Ended.Zxid < first {
				continue
			}
			g, ok := found[w.Path]
			how := w.How == g.How || g.Czxid == 0 && g.How == history.Unknown || w.Czxid < first && g.LetInEarlier && w.How == history.GaveUp
			unsure := g.Queued != w.Queued || w.How == history.GaveUp
			// Which place at the gate was its own is not known, and so not whether its client was still there.
			if ok && w.Kind == survey.Lease && w.Czxid < first && unsure && (g.LetInEarlier || g.How == history.Unknown || g.Queued.Zxid == 0) && g.Ended == w.Ended {
				continue
			}
			if !ok || since(g.Queued) != since(w.Queued) || since(g.LetIn) != since(w.LetIn) || g.In() != w.In() ||
				g.Ended != w.Ended || !how || g.Czxid != 0 && (g.Token != w.Token || g.Session != w.Session) {
				t.Errorf("seed %d, logs from %d: got\n%+v\nwant\n%+v", seed, first, g, w)
			}
		}
	}
}
