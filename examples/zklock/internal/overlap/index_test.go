package overlap_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gocurator/curator/examples/zklock/holds/records"
	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/overlap"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// load writes records into a file, and loads it for a history of the path, whose locks have the nodes of these zxids.
// It returns the zxids of the records of each lock.
func load(t *testing.T, root string, locks map[string][]int64, all ...records.Record) (of map[string][]int64, files *overlap.Files) {
	t.Helper()
	h := &history.History{Path: root}
	for _, path := range slices.Backward(slices.Sorted(maps.Keys(locks))) {
		lock := history.Lock{Path: path}
		for _, zxid := range locks[path] {
			c := node(survey.Mutex, zxid, zxid+5, history.Released)
			c.Node = "lock-0000000000" // as without protection
			lock.Contenders = append(lock.Contenders, c)
		}
		h.Locks = append(h.Locks, lock)
	}
	var text []byte
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	name := filepath.Join(t.TempDir(), "holds")
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := overlap.Load(h, name)
	if err != nil {
		t.Fatal(err)
	}
	of = map[string][]int64{}
	for i, list := range files.Records {
		for _, r := range list {
			of[h.Locks[i].Path] = append(of[h.Locks[i].Path], max(r.Czxid, r.Begin.Zxid))
		}
	}
	return of, files
}

func TestRecordsGoToTheLockOfTheirPathAndThenOfTheirNode(t *testing.T) {
	at := func(path string, zxid int64) records.Record {
		r := hold(zxid, zxid, zxid+1, records.Released)
		r.Path, r.Node = path, "lock-0000000000"
		return r
	}
	unknown := func(path string, zxid int64) records.Record { r := at(path, zxid); r.Czxid = 0; return r }
	for name, test := range map[string]struct {
		root    string
		locks   map[string][]int64
		records []records.Record
		want    map[string][]int64
		notes   []string
	}{
		"nodes of one name": {
			"/l",
			map[string][]int64{"/l/a": {10}, "/l/b": {11}},
			[]records.Record{at("/l/b", 11), at("/l/a", 10)},
			map[string][]int64{"/l/a": {10}, "/l/b": {11}},
			nil,
		},
		"the end of a path, below the path": {
			"/ch/l",
			map[string][]int64{"/ch/l/a": {10}},
			[]records.Record{at("/l/a", 10), at("/a", 12)},
			map[string][]int64{"/ch/l/a": {10, 12}},
			nil,
		},
		"the ends of two paths": {
			"/",
			map[string][]int64{"/x/a": {10}, "/y/a": {11}},
			[]records.Record{at("/a", 11), at("/a", 10)},
			map[string][]int64{"/x/a": {10}, "/y/a": {11}},
			nil,
		},
		"the whole of one path, the end of another": {
			"/",
			map[string][]int64{"/a": {10}, "/y/a": {11}},
			[]records.Record{at("/a", 11), at("/a", 10), at("/a", 12)},
			map[string][]int64{"/a": {10, 12}, "/y/a": {11}},
			nil,
		},
		"the ends of two paths, and no token": {
			"/",
			map[string][]int64{"/x/a": {10}, "/y/a": {11}},
			[]records.Record{unknown("/a", 11)},
			map[string][]int64{},
			[]string{"/a: 1 records, and no lock of that path in the logs"},
		},
		"the ends of two paths, one of which has the node": {
			"/", map[string][]int64{"/x/a": {}, "/y/a": {11}, "/z/b": {12}}, []records.Record{unknown("/a", 11)}, map[string][]int64{"/y/a": {11}}, nil,
		},
		"no lock": {
			"/l",
			map[string][]int64{"/l/a": {10}},
			[]records.Record{at("/l/b", 11), at("/l/b", 12), at("/l/a", 10)},
			map[string][]int64{"/l/a": {10}},
			[]string{"/l/b: 2 records, and no lock of that path in the logs"},
		},
		"no lock, by the end of a path": {
			"/ch/l",
			map[string][]int64{"/ch/l/a": {10}},
			[]records.Record{at("/l/b", 11), at("/l", 12)},
			map[string][]int64{},
			[]string{"/l/b: 1 records, and no lock of that path in the logs", "/l: 1 records, and no lock of that path in the logs"},
		},
		"no lock, of elsewhere": {
			"/ch/l", map[string][]int64{"/ch/l/a": {10}}, []records.Record{at("/ch/m", 11), at("/lb", 12), at("/b", 13)}, map[string][]int64{}, nil,
		},
	} {
		got, files := load(t, test.root, test.locks, test.records...)
		if fmt.Sprint(got) != fmt.Sprint(test.want) || !slices.Equal(files.Notes, test.notes) || files.Incomplete != (test.notes != nil) {
			t.Errorf("%s: got %v and %q, incomplete %t, want %v and %q", name, got, files.Notes, files.Incomplete, test.want, test.notes)
		}
	}
}

func TestOfPathsWithoutALockAHundredAreNamed(t *testing.T) {
	var all []records.Record
	for i := range 150 {
		r := hold(10, 10, 11, records.Released)
		r.Path = fmt.Sprintf("/l/%03d", i)
		all = append(all, r, r)
	}
	_, files := load(t, "/l", nil, all...)
	if n := len(files.Notes); n != 101 || files.Notes[100] != "100 records of more paths, and no locks of these in the logs" {
		t.Errorf("got %d notes, the last %q, want 101, and how many more records", n, files.Notes[n-1])
	}
}
