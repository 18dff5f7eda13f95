//go:build unix

package zookeeper

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A server that is killed while it writes leaves a part of its last transaction, and writes the next one elsewhere.
func TestATransactionThatWasWrittenInPartCountsForNothing(t *testing.T) {
	const remove = 2
	head := append([]byte("ZKLG"), make([]byte, 12)...)
	first := appendTxn(slices.Clone(head), 1, remove, jute(nil, "/a"))
	whole := appendTxn(slices.Clone(first), 2, remove, jute(nil, "/b"))
	next := appendTxn(slices.Clone(head), 2, remove, jute(nil, "/c"))
	for cut := len(first); cut <= len(whole); cut++ {
		dir := t.TempDir()
		for name, log := range map[string][]byte{"log.1": append(slices.Clone(whole[:cut]), make([]byte, 100)...), "log.2": next} {
			if err := os.WriteFile(filepath.Join(dir, name), log, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := transactions(dir)
		if err != nil {
			t.Fatal(err)
		}
		want := 2
		if cut == len(whole) {
			want = 3
		}
		if len(all) != want {
			t.Errorf("%d of %d bytes of a transaction: %d were read, want %d", cut-len(first), len(whole)-len(first), len(all), want)
		}
	}
}
