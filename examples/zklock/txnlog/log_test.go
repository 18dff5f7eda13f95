package txnlog_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// replayed opens directories for a path, and prints what was executed, with "?" where no time is known.
func replayed(t *testing.T, path string, dirs ...string) (lines []string, log *txnlog.Log) {
	t.Helper()
	log, err := txnlog.Open(path, dirs...)
	if err != nil {
		t.Fatal(err)
	}
	for transaction := range log.Transactions() {
		for _, c := range transaction.Changes {
			line := fmt.Sprintf("%d %v %s", transaction.Zxid, c.Kind, c.Path)
			if c.Owner != 0 {
				line += fmt.Sprintf(" of %d", c.Owner)
			}
			if transaction.At.IsZero() {
				line += " ?"
			}
			lines = append(lines, line)
		}
	}
	return lines, log
}

func wantLines(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func notes(log *txnlog.Log) (list []string) {
	for _, n := range log.Notes {
		list = append(list, n.String())
	}
	return list
}

// wantNotes compares notes, of which a part each is given.
func wantNotes(t *testing.T, name string, log *txnlog.Log, want ...string) {
	t.Helper()
	got := notes(log)
	same := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		same = same && strings.Contains(got[i], want[i])
	}
	if !same {
		t.Errorf("%s: got the notes\n\t%s\nwant\n\t%s", name, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func made(zxid, session int64, path string) record {
	return record{zxid: zxid, session: session, kind: create, body: created(path, "x", 1)}
}

func gone(zxid, session int64, path string) record {
	return record{zxid: zxid, session: session, kind: remove, body: text(nil, path)}
}

func TestLogHasTheChangesBelowAPath(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(
		made(1, 7, "/l"), made(2, 7, "/l/a"), made(3, 8, "/la"), made(4, 8, "/l/b"), gone(5, 8, "/la"),
		record{zxid: 6, session: 7, kind: multi, body: parts(remove, text(nil, "/l/a"), create, created("/other", "", 1))},
		record{zxid: 7, session: 8, kind: closeSession},
	)})
	got, log := replayed(t, "/l", dir)
	wantLines(t, "/l", got, "1 Created /l of 7", "2 Created /l/a of 7", "4 Created /l/b of 8", "6 Deleted /l/a of 7", "7 Deleted /l/b of 8")
	wantNotes(t, "/l", log)
	if log.First.Zxid != 1 || log.Last != (txnlog.Moment{Zxid: 7, At: time.UnixMilli(1_700_000_000_007)}) {
		t.Errorf("got the transactions from %+v to %+v, want 1 to 7", log.First, log.Last)
	}
	got, _ = replayed(t, "/l/a", dir)
	wantLines(t, "/l/a", got, "2 Created /l/a of 7", "6 Deleted /l/a of 7")
	if all, _ := replayed(t, "/", dir); len(all) != 8 {
		t.Errorf("got %d changes below /, want 8: %v", len(all), all)
	}
	if again, _ := replayed(t, "/l/a", filepath.Dir(dir), dir); !reflect.DeepEqual(again, got) { // the first has no log
		t.Errorf("got %v, want %v", again, got)
	}
}

func TestLogBeginsWithTheNodesOfASnapshot(t *testing.T) {
	logs := func() map[string][]byte {
		return map[string][]byte{"log.a": logOf(
			made(10, 7, "/l/c"), gone(11, 7, "/l/a"), made(12, 8, "/l/d"), gone(13, 8, "/l/d"),
			record{zxid: 14, session: 7, kind: closeSession, body: text(text(i32(nil, 2), "/l/b"), "/l/c")},
		)}
	}
	a, b := snapNode{"/l/a", "x", 3, 7}, snapNode{"/l/b", "y", 4, 7}
	c, container := snapNode{"/l/c", "z", 10, 7}, snapNode{"/l", "", 2, -1 << 63}
	ttl := snapNode{"/l", "", 2, -1<<56 | 1000}
	rest := []string{
		"10 Created /l/c of 7", "11 Deleted /l/a of 7", "12 Created /l/d of 8", "13 Deleted /l/d of 8",
		"14 Deleted /l/b of 7", "14 Deleted /l/c of 7",
	}
	known := []string{"2 Created /l", "3 Created /l/a of 7", "4 Created /l/b of 7"}
	for name, test := range map[string]struct {
		files  map[string][]byte
		before []string
		notes  []string
	}{
		"just before the logs":               {map[string][]byte{"snapshot.9": snapshotOf(b, a, container)}, known, nil},
		"fuzzy, with what came later":        {map[string][]byte{"snapshot.9": snapshotOf(ttl, a, b, c)}, known, nil},
		"fuzzy, without what went later":     {map[string][]byte{"snapshot.9": snapshotOf(container, b)}, []string{"2 Created /l", "4 Created /l/b of 7", "0 Created /l/a ?"}, nil},
		"after the logs' begin":              {map[string][]byte{"snapshot.c": snapshotOf(container, b, c)}, []string{"2 Created /l", "4 Created /l/b of 7", "0 Created /l/a ?"}, nil},
		"the newest before, of several":      {map[string][]byte{"snapshot.9": snapshotOf(container, a, b), "snapshot.5": snapshotOf(), "snapshot.c": snapshotOf()}, known, nil},
		"the next one, since one is cut off": {map[string][]byte{"snapshot.9": snapshotOf(a)[:90], "snapshot.c": snapshotOf(container, a, b)}, known, []string{"snapshot.9: at offset"}},
		"the next one, since one is damaged": {
			map[string][]byte{
				"snapshot.9": bytes.Replace(snapshotOf(a), []byte("/l/a"), []byte("/l/z"), 1), "snapshot.c": snapshotOf(container, a, b),
			},
			known,
			[]string{"snapshot.9: checksum"},
		},
		"compressed": {map[string][]byte{"snapshot.9.gz": zipped(snapshotOf(b, a, container))}, known, nil},
		"compressed, and cut off": {
			map[string][]byte{"snapshot.9.gz": zipped(snapshotOf(a))[:60], "snapshot.c": snapshotOf(container, a, b)},
			known,
			[]string{"snapshot.9.gz: "},
		},
		"compressed by snappy": {map[string][]byte{"snapshot.9.snappy": snapped(snapshotOf(b, a, container))}, known, nil},
		"compressed by snappy, and cut off": {
			map[string][]byte{"snapshot.9.snappy": snapped(snapshotOf(a))[:60], "snapshot.c": snapshotOf(container, a, b)},
			known,
			[]string{"snapshot.9.snappy: at offset 0: it is cut off"},
		},
		"another format":       {map[string][]byte{"snapshot.9": logOf()}, []string{"0 Created /l/a ?", "0 Created /l/b of 7 ?"}, []string{"not a snapshot"}},
		"long before the logs": {map[string][]byte{"snapshot.5": snapshotOf(container, a, b)}, known, []string{"4 transactions are in no log, from zxid 0x6 to 0x9"}},
		"none":                 {nil, []string{"0 Created /l/a ?", "0 Created /l/b of 7 ?"}, nil},
	} {
		files := logs()
		maps.Copy(files, test.files)
		got, log := replayed(t, "/l", write(t, files))
		want := slices.Concat(test.before, rest)
		if name == "fuzzy, without what went later" || name == "after the logs' begin" || len(test.before) > 0 && strings.HasPrefix(test.before[0], "0") {
			want[len(test.before)+1] = "11 Deleted /l/a" // whose it was is not known
		}
		wantLines(t, name, got, want...)
		wantNotes(t, name, log, test.notes...)
	}
}

func TestLogGoesOnBehindDamage(t *testing.T) {
	first := logOf(made(1, 7, "/a"))
	whole := made(2, 7, "/b").appendTo(slices.Clone(first))
	damage := func(at int, b byte) []byte {
		log := made(3, 7, "/c").appendTo(slices.Clone(whole))
		log[at] = b
		return log
	}
	next := logOf(made(4, 7, "/d"))
	offset := fmt.Sprintf("offset %d", len(first))
	for name, test := range map[string]struct {
		log   []byte
		want  []int64
		notes []string
	}{
		"a body":   {damage(len(first)+50, 'x'), []int64{1, 3, 4}, []string{offset + ": damaged: checksum", "from zxid 0x2 to 0x2"}},
		"a length": {damage(len(first)+8, 0x7f), []int64{1, 4}, []string{offset + ": impossible length", "from zxid 0x2 to 0x3"}},
		"a zxid": {
			append(append(slices.Clone(first), record{zxid: -2, kind: createSession}.appendTo(nil)...), made(2, 7, "/b").appendTo(nil)...),
			[]int64{1, 2, 4},
			[]string{offset + ": damaged: zxid 0xfffffffffffffffe", "from zxid 0x3 to 0x3"},
		},
		"a magic":   {damage(0, 'x'), []int64{4}, []string{"offset 0: "}},
		"a version": {damage(7, 3), []int64{4}, []string{"version 3 of the format, want 2"}},
		"an end":    {whole[:len(whole)-5], []int64{1, 4}, []string{"ends in the middle of a record at " + offset, "from zxid 0x2 to 0x3"}},
		"a head":    {whole[:len(first)+5], []int64{1, 4}, []string{"ends in the middle of a record at " + offset, "from zxid 0x2 to 0x3"}},
		"the start": {whole[:9], []int64{4}, []string{"ends in the header, or is empty"}},
		"a repeat":  {append(slices.Clone(whole), whole[16:]...), []int64{1, 2, 4}, []string{"from zxid 0x3 to 0x3"}},
		"no bytes":  {nil, []int64{4}, []string{"ends in the header, or is empty, without zeros behind it, and is not the newest"}},
		"zeros":     {append(slices.Clone(whole), make([]byte, 99)...), []int64{1, 2, 4}, []string{"from zxid 0x3 to 0x3"}},
	} {
		dir := write(t, map[string][]byte{"log.1": test.log, "log.4": next})
		log, err := txnlog.Open("/", dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for transaction := range log.Transactions() {
			got = append(got, transaction.Zxid)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got the transactions %v, want %v", name, got, test.want)
		}
		wantNotes(t, name, log, test.notes...)
	}
}

// The snapshot shows that /l/a went in the gap, and /l/c came in it.
func TestLogFillsAGapFromLaterFiles(t *testing.T) {
	files := map[string][]byte{
		"log.1":      logOf(made(1, 7, "/l/a"), made(2, 7, "/l/b")),
		"log.9":      logOf(gone(9, 8, "/l/c"), made(10, 7, "/l/d"), gone(11, 7, "/l/b")),
		"snapshot.a": snapshotOf(snapNode{"/l/b", "", 2, 7}),
	}
	got, log := replayed(t, "/l", write(t, files))
	wantLines(t, "a gap", got, "1 Created /l/a of 7", "2 Created /l/b of 7", "8 Created /l/c ?", "8 Deleted /l/a of 7 ?", "9 Deleted /l/c",
		"10 Created /l/d of 7", "11 Deleted /l/b of 7")
	wantNotes(t, "a gap", log, "6 transactions are in no log, from zxid 0x3 to 0x8")
}

func TestLogSaysWhatServersHaveApart(t *testing.T) {
	const e1, e2 int64 = 1 << 32, 2 << 32
	one := record{zxid: e1 + 1, kind: createSession}
	other := record{zxid: e1 + 1, session: 9, kind: createSession}
	dirs := []string{
		write(t, map[string][]byte{"log.1": logOf(one, made(e1+2, 7, "/deposed")), "snapshot.0": snapshotOf()}),
		write(t, map[string][]byte{"log.1": logOf(one, made(e2+1, 7, "/a"), made(e2+2, 7, "/new")), "snapshot.0": snapshotOf()}),
		write(t, map[string][]byte{"log.1": logOf(other, made(e2+1, 7, "/a")), "snapshot.0": snapshotOf()}),
	}
	got, log := replayed(t, "/", dirs...)
	wantLines(t, "three servers", got, fmt.Sprint(e2+1, " Created /a of 7"), fmt.Sprint(e2+2, " Created /new of 7"))
	wantNotes(t, "three servers", log, "transaction 0x100000001 is not that of the other servers",
		dirs[0]+": transactions from zxid 0x100000002 to 0x100000002 were not executed", dirs[1]+": transactions from zxid 0x200000002 to 0x200000002 may not have been executed: most")
}

func TestOpenFailsWithoutALog(t *testing.T) {
	dir := write(t, map[string][]byte{"snapshot.1": snapshotOf()})
	if _, err := txnlog.Open("/", dir, filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
		t.Errorf("got %v, want fs.ErrNotExist that names %s", err, dir)
	}
	if err := os.WriteFile(filepath.Join(dir, "log.1"), logOf(made(1, 7, "/a")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, log := replayed(t, "/", dir, filepath.Join(dir, "missing"))
	wantNotes(t, "a missing directory", log, "missing: no log of transactions")
}
