package txnlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// A server allocates zeros ahead. What stands behind them was not written by a server that goes on.
func TestLogSaysThatTheRestOfAFileIsNotRead(t *testing.T) {
	first := logOf(made(1, 7, "/a"))
	rest := made(3, 7, "/c").appendTo(nil)
	at := fmt.Sprintf("record at offset %d: ", len(first))
	const unread = "; the rest of the file is not read"
	zeroed := made(2, 7, "/b").appendTo(slices.Clone(first))
	zeroed[len(zeroed)-1] = 0
	long := made(2, 7, "/b").appendTo(slices.Clone(first))
	long[len(first)+8] = 0x7f
	damaged := slices.Clone(first)
	for zxid := range int64(20) {
		damaged = made(zxid+2, 7, "/x").appendTo(damaged)
		damaged[len(damaged)-2] ^= 1
	}
	var nine []string
	for range 8 {
		nine = append(nine, "checksum")
	}
	for name, test := range map[string]struct {
		log  []byte
		want []string
	}{
		"zeros, then a record":            {slices.Concat(first, make([]byte, 512), rest), []string{at + "no record, and more behind it" + unread}},
		"many zeros, then a record":       {slices.Concat(first, make([]byte, 1<<20), rest), []string{at + "no record, and more behind it" + unread}},
		"an end that is lost, a record":   {slices.Concat(zeroed, rest), []string{at + "no record, and more behind it" + unread}},
		"an end that is lost, then zeros": {slices.Concat(zeroed, make([]byte, 1<<20)), []string{"ends in the middle of a record"}},
		"zeros":                           {slices.Concat(first, make([]byte, 1<<20)), nil},
		"a length":                        {slices.Concat(long, rest), []string{at + "impossible length 2130706478" + unread}},
		"the ninth damage":                {slices.Concat(damaged, rest), append(nine, "; the rest of the file is not read")},
	} {
		_, log := replayed(t, "/", write(t, map[string][]byte{"log.1": test.log}))
		if test.want != nil && strings.HasPrefix(test.want[0], at+"impossible") {
			test.want[0] = unread
		}
		wantNotes(t, name, log, test.want...)
	}
}

func TestNotesThatSomethingIsMissingGoBeforeOthers(t *testing.T) {
	files := map[string][]byte{}
	for zxid := range int64(130) {
		files[fmt.Sprintf("log.%x", zxid+1)] = slices.Concat(logOf(made(zxid+1, 7, "/a")), []byte{0, 0, 0, 1}, make([]byte, 20))
	}
	files["log.90"] = logOf(made(0x90, 7, "/b"))
	_, log := replayed(t, "/", write(t, files))
	last := log.Notes[len(log.Notes)-1]
	if len(log.Notes) != 100 || log.MoreNotes != 31 || last.Kind != txnlog.Gap || !log.Incomplete {
		t.Errorf("got %d notes and %d more, incomplete %v, the last %v, want 100 and 31, true, a gap", len(log.Notes), log.MoreNotes, log.Incomplete, last)
	}
	delete(files, "log.90")
	if _, log := replayed(t, "/", write(t, files)); log.Incomplete || len(log.Notes) != 100 || log.MoreNotes != 30 {
		t.Errorf("got %d notes and %d more, incomplete %v, want 100 and 30, false", len(log.Notes), log.MoreNotes, log.Incomplete)
	}
}

func TestLogSaysWhatCannotBeReadAnyMore(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a")), "log.2": logOf(made(2, 7, "/b"))})
	log, err := txnlog.Open("/", dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "log.2")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		n := 0
		for range log.Transactions() {
			n++
		}
		if n != 1 || !log.Incomplete || !strings.Contains(fmt.Sprint(notes(log)), file) || !strings.Contains(fmt.Sprint(notes(log)), "have changed") {
			t.Errorf("got %d transactions, incomplete %v, notes %v, want 1, and %s named", n, log.Incomplete, notes(log), file)
		}
	}
	if len(log.Notes) > 3 {
		t.Errorf("got %v, want each damage once", notes(log))
	}
}

func TestLogReadsOtherDirectoriesIfOneIsNone(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a")), "file": nil})
	file := filepath.Join(dir, "file")
	got, log := replayed(t, "/", file, dir)
	wantLines(t, "a file and a directory", got, "1 Created /a of 7")
	wantNotes(t, "a file and a directory", log, file+": ")
	if _, err := txnlog.Open("/", file); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), file) {
		t.Errorf("got %v, want fs.ErrNotExist that names %s", err, file)
	}
}

func TestLogThatIsADirectoryIsNotOpened(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a"))})
	if err := os.Mkdir(filepath.Join(dir, "log.2"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, log := replayed(t, "/", dir)
	wantNotes(t, "a directory", log, "not a regular file")
}

func TestLogSaysThatATransactionStandsBehindLaterOnes(t *testing.T) {
	one, two, three := made(1, 7, "/a"), made(2, 7, "/b"), made(3, 7, "/c")
	got, log := replayed(t, "/", write(t, map[string][]byte{"log.1": logOf(one, three, two, three)}))
	wantLines(t, "another order", got, "1 Created /a of 7", "3 Created /c of 7")
	wantNotes(t, "another order", log, "from zxid 0x2 to 0x2", "transaction 0x2 stands behind later ones, and is left out")
	_, log = replayed(t, "/", write(t, map[string][]byte{"log.1": logOf(two, one, three)}))
	wantNotes(t, "before the first", log, "transaction 0x1 stands behind later ones, and is left out")
	_, log = replayed(t, "/", write(t, map[string][]byte{"log.1": logOf(one, two, one, two, three)}))
	wantNotes(t, "a second time", log)
}

// A snapshot of some kilobytes can have any number of nodes.
func TestSnapshotWithTooManyNodesIsNotKept(t *testing.T) {
	var file bytes.Buffer
	w, err := gzip.NewWriterLevel(&file, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	whole, one := snapshotOf(), snapshotOf(snapNode{"/l/a", "", 1, 7})
	begin := len(whole) - 51 // behind the root
	_, _ = w.Write(whole[:begin])
	for range 1<<20 + 1 {
		_, _ = w.Write(one[begin : begin+len(one)-len(whole)])
	}
	_ = w.Close()
	got, log := replayed(t, "/l", write(t, map[string][]byte{"log.9": logOf(made(9, 7, "/l/b")), "snapshot.8.gz": file.Bytes()}))
	wantLines(t, "nodes", got, "9 Created /l/b of 7")
	wantNotes(t, "nodes", log, "too many nodes")
}

func TestSnapshotGivesTheDataOfItsFirstNodes(t *testing.T) {
	var nodes []snapNode
	for i := range int64(5000) {
		nodes = append(nodes, snapNode{fmt.Sprintf("/l/%04d", i), strings.Repeat("x", 5000), i + 1, 7})
	}
	log, err := txnlog.Open("/l", write(t, map[string][]byte{"log.2000": logOf(made(0x2000, 7, "/l/b")), "snapshot.1fff": snapshotOf(nodes...)}))
	if err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	for transaction := range log.Transactions() {
		switch len(transaction.Changes[0].Data) {
		case 4096:
			with++
		case 0:
			without++
		}
	}
	wantNotes(t, "data", log)
	if with != 4096 || without != 5000-4096 {
		t.Errorf("got the data of %d nodes, and %d without, want %d and %d", with, without, 4096, 5000-4096)
	}
}

// Behind what a server has written it has allocated zeros, so a file that ends there was copied in part.
func TestLogThatIsCutShortIsIncompleteUnlessItIsTheNewest(t *testing.T) {
	whole, next := logOf(made(1, 7, "/a"), made(2, 7, "/b")), logOf(made(1<<32+1, 7, "/c"))
	for name, test := range map[string]struct {
		log  []byte
		want txnlog.NoteKind
	}{
		"in a body":                    {whole[:len(whole)-9], txnlog.CutShort},
		"before the last byte":         {whole[:len(whole)-1], txnlog.CutShort},
		"in a checksum":                {logOf(made(1, 7, "/a"), made(2, 7, "/b"))[:len(logOf(made(1, 7, "/a")))+3], txnlog.CutShort},
		"in the header":                {whole[:15], txnlog.CutShort},
		"no bytes":                     {nil, txnlog.CutShort},
		"zeros in a body":              {append(whole[:len(whole)-9:len(whole)-9], make([]byte, 99)...), txnlog.Torn},
		"zeros in place of the length": {append(slices.Clone(logOf(made(1, 7, "/a"))), append([]byte{0, 0, 0, 0, 1}, make([]byte, 99)...)...), txnlog.Torn},
	} {
		for newest, names := range map[bool][2]string{false: {"log.1", "log.100000001"}, true: {"log.100000001", "log.1"}} {
			_, log := replayed(t, "/", write(t, map[string][]byte{names[0]: test.log, names[1]: next}))
			want := test.want
			if newest {
				want = txnlog.Torn
			}
			if n := log.Notes[0]; n.Kind != want || n.Incomplete() != (want == txnlog.CutShort) {
				t.Errorf("%s, newest %v: got %v of kind %s, incomplete %v, want %s", name, newest, n, n.Kind, n.Incomplete(), want)
			}
		}
	}
}

func TestCompressedLogsAreNotRead(t *testing.T) {
	dir := write(t, map[string][]byte{"log.1": logOf(made(1, 7, "/a")), "log.2.gz": zipped(logOf(made(2, 7, "/b")))})
	got, log := replayed(t, "/", dir)
	wantLines(t, "one of two", got, "1 Created /a of 7")
	wantNotes(t, "one of two", log, "log.2.gz: compressed logs are not read")
	if !log.Incomplete {
		t.Error("got no word that transactions may be missing")
	}
	if err := os.Remove(filepath.Join(dir, "log.1")); err != nil {
		t.Fatal(err)
	}
	if _, err := txnlog.Open("/", dir); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "log.2.gz: compressed") {
		t.Errorf("got %v, want fs.ErrNotExist, and the log that is not read", err)
	}
}
