package txnlog_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// The types of transactions, as in ZooDefs.OpCode.
const (
	create, remove, setData, setACL, check, multi, create2, reconfig         = 1, 2, 5, 7, 13, 14, 15, 16
	createContainer, deleteContainer, createTTL, createSession, closeSession = 19, 20, 21, -10, -11
	failed                                                                   = -1
)

// digest is what servers since 3.6 write behind a body: its version and the digest of the tree.
var digest = i64(i32(nil, 2), 0x1234567890)

func i32(to []byte, n int32) []byte { return binary.BigEndian.AppendUint32(to, uint32(n)) }

func i64(to []byte, n int64) []byte { return binary.BigEndian.AppendUint64(to, uint64(n)) }

func text(to []byte, s string) []byte { return append(i32(to, int32(len(s))), s...) }

func world(to []byte) []byte { return text(text(i32(i32(to, 1), 31), "world"), "anyone") }

// created is the body of a create without the count of children at its end, as ZooKeeper 3.3 wrote it.
func created(path, data string, ephemeral byte) []byte {
	return append(world(text(text(nil, path), data)), ephemeral)
}

// parts is the body of a multi: each part is a type and a body.
func parts(list ...any) []byte {
	body := i32(nil, int32(len(list)/2))
	for pair := range slices.Chunk(list, 2) {
		body = text(i32(body, int32(pair[0].(int))), string(pair[1].([]byte)))
	}
	return body
}

type record struct {
	zxid, session int64
	request       int32
	kind          int32
	body          []byte
}

// header begins each log.
func header() []byte { return i64(i32([]byte("ZKLG"), 2), 0) }

func (r record) appendTo(log []byte) []byte {
	body := i32(i64(nil, r.session), r.request)
	body = i32(i64(i64(body, r.zxid), 1_700_000_000_000+r.zxid), r.kind)
	body = append(body, r.body...)
	log = i64(log, int64(adler32.Checksum(body)))
	return append(append(i32(log, int32(len(body))), body...), 'B')
}

func logOf(records ...record) []byte {
	log := header()
	for _, r := range records {
		log = r.appendTo(log)
	}
	return log
}

func write(t *testing.T, logs map[string][]byte) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, log := range logs {
		if err := os.WriteFile(filepath.Join(dir, name), log, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, logs map[string][]byte) []zktest.Transaction {
	t.Helper()
	all, err := txnlog.Read(write(t, logs))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func zxids(all []zktest.Transaction) (list []int64) {
	for _, t := range all {
		list = append(list, t.Zxid)
	}
	return list
}

// The names of logs sort otherwise than their zxids, and the owner of /a stands in another log than its deletion.
func TestReadOrdersTheTransactionsOfAllLogs(t *testing.T) {
	all := read(t, map[string][]byte{
		"log.10": append(logOf(
			record{zxid: 0x10, session: 8, kind: setData, body: text(text(nil, "/b"), "new")},
			record{zxid: 0x11, session: 8, kind: remove, body: text(nil, "/a")},
			record{zxid: 0x12, session: 7, kind: closeSession},
		), make([]byte, 1000)...),
		"log.9": logOf(
			record{zxid: 9, session: 7, kind: create, body: created("/a", "", 1)},
			record{zxid: 10, session: 7, kind: create, body: created("/b", "", 1)},
			record{zxid: 0x10, session: 8, kind: setData, body: text(text(nil, "/b"), "new")},
		),
		"snapshot.9": []byte("not a log"),
	})
	if got, want := zxids(all), []int64{9, 10, 0x10, 0x11, 0x12}; !slices.Equal(got, want) {
		t.Fatalf("zxids: got %v, want %v", got, want)
	}
	want := zktest.Transaction{
		Zxid: 0x11, Session: 8, At: time.UnixMilli(1_700_000_000_000 + 0x11),
		Changes: []zktest.Change{{Kind: zktest.Deleted, Path: "/a", Owner: 7}},
	}
	if !reflect.DeepEqual(all[3], want) {
		t.Errorf("a deletion in the second log: got %+v, want %+v", all[3], want)
	}
	want = zktest.Transaction{
		Zxid: 0x12, Session: 7, At: time.UnixMilli(1_700_000_000_000 + 0x12), EndsSession: true,
		Changes: []zktest.Change{{Kind: zktest.Deleted, Path: "/b", Owner: 7}},
	}
	if !reflect.DeepEqual(all[4], want) {
		t.Errorf("an end of a session in the second log: got %+v, want %+v", all[4], want)
	}
}

// A server that is killed while it writes leaves a part of its last transaction, with or without the zeros that it
// allocated ahead, and writes the next one elsewhere.
func TestReadSkipsATransactionThatWasWrittenInPart(t *testing.T) {
	first := logOf(record{zxid: 1, kind: create, body: created("/a", "x", 0)})
	whole := record{zxid: 2, kind: create, body: created("/b", strings.Repeat("y", 300), 0)}.appendTo(slices.Clone(first))
	next := logOf(record{zxid: 3, kind: remove, body: text(nil, "/a")})
	for cut := range len(whole) + 1 {
		for _, padding := range []int{0, 1000} {
			if cut < len(header()) && padding > 0 {
				continue // servers write the header before they allocate
			}
			all := read(t, map[string][]byte{"log.1": append(slices.Clone(whole[:cut]), make([]byte, padding)...), "log.3": next})
			want := []int64{3}
			if cut >= len(first) {
				want = []int64{1, 3}
			}
			if cut == len(whole) {
				want = []int64{1, 2, 3}
			}
			if got := zxids(all); !slices.Equal(got, want) {
				t.Errorf("%d of %d bytes and %d zeros: got %v, want %v", cut, len(whole), padding, got, want)
			}
		}
	}
}

func TestReadNamesTheDamagedFileAndTheOffset(t *testing.T) {
	good := logOf(record{zxid: 1, kind: create, body: created("/a", "x", 0)})
	second := len(good)
	log := record{zxid: 2, kind: remove, body: text(nil, "/a")}.appendTo(slices.Clone(good))
	at := fmt.Sprintf("offset %d: ", second)
	damage := func(offset int, b ...byte) []byte {
		damaged := append(slices.Clone(log), make([]byte, 100)...)
		copy(damaged[offset:], b)
		return damaged
	}
	for name, test := range map[string]struct {
		log  []byte
		want string
	}{
		"magic":           {damage(0, 'X'), "offset 0: "},
		"version":         {damage(7, 3), "offset 4: "},
		"checksum":        {damage(second+3, 1), at + "damaged: checksum"},
		"body":            {damage(second+12+3, 1), at + "damaged: checksum"},
		"negative length": {damage(second+8, 0xff), at + "impossible length"},
		"great length":    {damage(second+8, 0x10), at + "impossible length"},
		"last byte":       {damage(len(log)-1, 'A'), at + "it ends with"},
		"short header":    {append(slices.Clone(good), rawRecord(make([]byte, 31))...), at + "damaged: it is cut off"},
		"short creation":  {logOf(record{zxid: 5, kind: create, body: text(nil, "/a")}), "offset 16: transaction 0x5 of type 1: it is cut off"},
		"short deletion":  {logOf(record{kind: remove, body: []byte{0, 0, 0, 9, '/'}}), "it is cut off"},
		"negative text":   {logOf(record{kind: remove, body: []byte{255, 255, 255, 0}}), "it is cut off"},
		"short part":      {logOf(record{kind: multi, body: parts(remove, []byte{0})}), "a part of type 2: it is cut off"},
		"too few parts":   {logOf(record{kind: multi, body: i32(nil, 1)}), "it is cut off"},
		"multi in multi":  {logOf(record{kind: multi, body: parts(multi, parts())}), "a part of type 14"},
	} {
		dir := write(t, map[string][]byte{"log.1": test.log, "log.0": logOf()})
		all, err := txnlog.Read(dir)
		if err == nil {
			t.Errorf("%s: got %v and no error", name, all)
		} else if file := filepath.Join(dir, "log.1"); !strings.Contains(err.Error(), file) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got the error %q, want %q and %q in it", name, err, file, test.want)
		}
	}
}

func TestReadRefusesATransactionBehindLaterOnes(t *testing.T) {
	one, two, three := made(1, 7, "/a"), made(2, 7, "/b"), made(3, 7, "/c")
	dir := write(t, map[string][]byte{"log.1": logOf(one, three, two)})
	at := fmt.Sprintf("%s: record at offset %d: transaction 0x2 stands behind later ones", filepath.Join(dir, "log.1"), len(logOf(one, three)))
	if all, err := txnlog.Read(dir); err == nil || !strings.Contains(err.Error(), at) {
		t.Errorf("got %v and the error %v, want %q", all, err, at)
	}
	if all := read(t, map[string][]byte{"log.1": logOf(one, two, one, three)}); !slices.Equal(zxids(all), []int64{1, 2, 3}) {
		t.Errorf("one that is there a second time: got %v, want 1 to 3", zxids(all))
	}
}

// rawRecord is a record of any content.
func rawRecord(body []byte) []byte {
	log := i64(nil, int64(adler32.Checksum(body)))
	return append(append(i32(log, int32(len(body))), body...), 'B')
}

func TestReadFailsWithoutALog(t *testing.T) {
	for name, dir := range map[string]string{"empty": t.TempDir(), "missing": filepath.Join(t.TempDir(), "none")} {
		if all, err := txnlog.Read(dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, %v, want fs.ErrNotExist that names %s", name, all, err, dir)
		}
	}
}

func TestParseEndsWithTheErrorOfItsFunction(t *testing.T) {
	log := logOf(record{zxid: 1, kind: createSession}, record{zxid: 2, kind: createSession})
	stop := errors.New("stop")
	var seen []int64
	err := txnlog.Parse(strings.NewReader(string(log)), func(t zktest.Transaction) error {
		seen = append(seen, t.Zxid)
		return stop
	})
	if err != stop || !slices.Equal(seen, []int64{1}) {
		t.Errorf("got the error %v after %v, want %v after [1]", err, seen, stop)
	}
}
