package txnlog_test

import (
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"

	"github.com/gocurator/curator/framework/zktest"
)

// kept opens a directory, and returns how many bytes of paths and data it gives. It fails if two readings differ, if
// zxids go back, or if a node comes twice or goes without having come.
func kept(t *testing.T, dir string) (size int) {
	t.Helper()
	log, err := txnlog.Open("/", dir)
	if err != nil {
		t.Fatal(err)
	}
	var before string
	for reading := range 2 {
		var text strings.Builder
		last := int64(-1 << 63)
		there := map[string]bool{}
		size = 0
		for transaction := range log.Transactions() {
			fmt.Fprintln(&text, transaction.Zxid, transaction.At, transaction.Changes)
			if transaction.Zxid < last && transaction.Zxid >= log.First.Zxid {
				t.Errorf("transaction %#x comes behind %#x", transaction.Zxid, last)
			}
			last = max(last, transaction.Zxid)
			for _, c := range transaction.Changes {
				size += len(c.Path) + len(c.Data)
				if c.Kind == zktest.Deleted && !there[c.Path] {
					t.Errorf("transaction %#x: %s goes and was not there", transaction.Zxid, c.Path)
				}
				if c.Kind == zktest.Created || c.Kind == zktest.Deleted {
					there[c.Path] = c.Kind == zktest.Created
				}
			}
		}
		if reading > 0 && text.String() != before {
			t.Errorf("got first\n%sand then\n%s", before, text.String())
		}
		before = text.String()
	}
	if log.MoreNotes == 0 {
		incomplete := false
		for _, n := range log.Notes {
			incomplete = incomplete || n.Incomplete()
		}
		if incomplete != log.Incomplete {
			t.Errorf("got Incomplete %v, and the notes %v", log.Incomplete, log.Notes)
		}
	}
	return size
}

func put(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Whatever a snapshot has, it gives no more than is in it. What is random stands before a checksum that is right.
func FuzzSnapshot(f *testing.F) {
	whole := snapshotOf(snapNode{"/l/a", "x", 3, 7}, snapNode{"/l/b", "", 12, 8}, snapNode{"/l", "", 2, -1 << 63})
	f.Add(whole[:len(whole)-51], int64(8))
	f.Add(whole[:90], int64(12))
	f.Add(snapshotOf()[:40], int64(1))
	f.Fuzz(func(t *testing.T, nodes []byte, zxid int64) {
		dir := t.TempDir()
		s := text(nodes[:len(nodes):len(nodes)], "/")
		put(t, dir, fmt.Sprintf("snapshot.%x", uint64(zxid)), text(i64(s, int64(adler32.Checksum(s))), "/"))
		put(t, dir, "log.9", logOf(made(9, 7, "/l/c"), gone(10, 7, "/l/a"), made(14, 7, "/l/d"), gone(15, 7, "/l/b"), record{zxid: 16, session: 7, kind: closeSession}))
		if size := kept(t, dir); size > 3*len(nodes)+200 { // a node may come, go, and come
			t.Errorf("%d bytes of paths and data from %d bytes", size, len(nodes))
		}
	})
}

// Whatever is in the files of a server, they are read to the end.
func FuzzOpenTwoServers(f *testing.F) {
	log := logOf(made(1, 7, "/a"), made(2, 8, "/b"), gone(5, 7, "/a"), record{zxid: 6, session: 8, kind: closeSession})
	f.Add(log, logOf(made(9, 7, "/c")), snapshotOf(snapNode{"/b", "", 2, 8}), byte(8), false)
	f.Add(log[:len(log)-9], logOf(made(3, 7, "/c"), made(4, 7, "/d")), snapshotOf(), byte(2), true)
	f.Add(append(log, make([]byte, 600)...), log, []byte("\x1f\x8b"), byte(4), false)
	f.Fuzz(func(t *testing.T, one, two, snapshot []byte, zxid byte, zip bool) {
		dir := t.TempDir()
		put(t, dir, "log.1", withChecksums(append([]byte{}, one...)))
		put(t, dir, "log.3", withChecksums(append([]byte{}, two...)))
		name := fmt.Sprintf("snapshot.%x", zxid)
		if zip {
			name += ".gz"
		}
		put(t, dir, name, snapshot)
		_ = kept(t, dir)
		both := t.TempDir()
		put(t, both, "log.1", withChecksums(append([]byte{}, two...)))
		if _, err := txnlog.Open("/", dir, both); err != nil {
			t.Error(err)
		}
	})
}
