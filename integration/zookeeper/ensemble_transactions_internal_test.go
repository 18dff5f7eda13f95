//go:build unix

package zookeeper

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// The observer has all; one server that votes has no log at all in the second case.
func TestTransactionsOfAnEnsembleAreThoseThatMostServersHaveLogged(t *testing.T) {
	for name, test := range map[string]struct {
		logs [][]int64 // zxids, of servers 1 to 3 and of an observer
		want []int64
	}{
		"a deposed leader has more, a snapshot hides one": {[][]int64{{1, 2, 3, 4, 9}, {1, 2, 5, 6}, {1, 3, 5, 6}, {1, 2, 3, 4, 5, 6, 9}}, []int64{1, 2, 3, 5, 6}},
		"one has none": {[][]int64{{1, 2}, {1, 2, 3}, nil, {3}}, []int64{1, 2}},
	} {
		e := &Ensemble{config: EnsembleConfig{Servers: 3}}
		for i, zxids := range test.logs {
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
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, test.want)
		}
	}
}
