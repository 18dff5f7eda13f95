//go:build unix

package zookeeper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The observer has one more, as one voter has, which has not been executed.
func TestTransactionsOfAnEnsembleAreThoseOfItsVoters(t *testing.T) {
	e := &Ensemble{config: EnsembleConfig{Servers: 3}}
	for i, zxids := range [][]int64{{1, 2}, {1, 2, 3}, nil, {1, 2, 3}} {
		m := &Member{Server: &Server{dataDir: t.TempDir()}, id: i + 1, observer: i == 3}
		e.members = append(e.members, m)
		dir := filepath.Join(m.dataDir, "version-2")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, zxid := range zxids {
			log := append([]byte("ZKLG"), 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)
			log = appendTxn(log, zxid, 2, jute(nil, "/gone"))
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("log.%x", zxid)), log, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	all, err := e.Transactions()
	var got []int64
	for _, x := range all {
		got = append(got, x.Zxid)
	}
	if want := []int64{1, 2}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}
