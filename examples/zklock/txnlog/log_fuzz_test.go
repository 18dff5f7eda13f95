package txnlog_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// Whatever the bytes of logs and snapshots, what is read takes memory in proportion to them, both looks give the same
// transactions, in the order of zxids, and nothing outside the path.
func FuzzOpen(f *testing.F) {
	first := logOf(made(2, 7, "/l/a"), made(3, 7, "/other"), record{zxid: 4, session: 7, kind: multi, body: parts(remove, text(nil, "/l/a"), create, created("/l/b", "", 1))})
	second := logOf(gone(6, 8, "/l/old"), record{zxid: 7, session: 7, kind: closeSession, body: append(text(i32(nil, 1), "/l/b"), digest...)})
	nodes := snapshotOf(snapNode{"/l", "", 1, -1 << 63}, snapNode{"/l/old", "x", 1, 8}, snapNode{"/other", "x", 1, 0})
	f.Add(first, second, nodes, false)
	f.Add(first, first, zipped(nodes), true)
	f.Add(first[:len(first)-3], append(second, make([]byte, 50)...), nodes[:len(nodes)-60], false)
	f.Add(i32(nil, 1<<30), i32(i64(logOf(), 1), 60<<20), i32([]byte("ZKSN"), 2), false)
	f.Fuzz(func(t *testing.T, first, second, snapshot []byte, zipped bool) {
		dir := t.TempDir()
		name := "snapshot.1"
		if zipped {
			name += ".gz"
		}
		for file, content := range map[string][]byte{"log.2": withChecksums(bytes.Clone(first)), "log.6": withChecksums(bytes.Clone(second)), name: snapshot} {
			if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		log, err := txnlog.Open("/l", dir)
		if err != nil {
			t.Fatal(err)
		}
		count := func() (n int) {
			last := int64(-1 << 63)
			for transaction := range log.Transactions() {
				n += len(transaction.Changes)
				if transaction.Zxid >= log.First.Zxid && transaction.Zxid < last {
					t.Errorf("%#x after %#x", transaction.Zxid, last)
				}
				last = transaction.Zxid
				for _, c := range transaction.Changes {
					if c.Path != "/l" && c.Path[:min(3, len(c.Path))] != "/l/" {
						t.Errorf("%q is not below /l", c.Path)
					}
				}
			}
			return n
		}
		if first, again := count(), count(); first != again {
			t.Errorf("got %d changes, then %d", first, again)
		}
		runtime.ReadMemStats(&after)
		content := len(first) + len(second) + len(snapshot)
		if zipped {
			content += 1100 * len(snapshot) // as much as gzip can hold
		}
		if used := int(after.TotalAlloc - before.TotalAlloc); used > 4<<20+100*content {
			t.Errorf("%d bytes took %d bytes of memory", content, used)
		}
	})
}
