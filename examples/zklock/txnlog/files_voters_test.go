package txnlog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gocurator/curator/examples/zklock/txnlog"
)

// Two of the directories have one transaction more. If they may be of one server, that is not most.
func TestDirectoriesOfOneServerAreNoMajority(t *testing.T) {
	more, less := [][]int64{{e1 + 1, e1 + 2}}, [][]int64{{e1 + 1}}
	older := [][]int64{{e1 + 1}, {e1 + 2}}
	zero := []int64{0}
	for name, test := range map[string]struct {
		servers     []server
		unconfirmed bool
		others      bool
	}{
		"two servers have it, by their numbers": {[]server{{"1", more, zero}, {"2", more, zero}, {"3", less, zero}}, false, false},
		"one has it, by its number":             {[]server{{"1", more, zero}, {"1", older, zero}, {"3", less, zero}}, true, false},
		"two servers have it, one twice":        {[]server{{"1", more, zero}, {"1", older, zero}, {"2", more, zero}, {"3", less, zero}}, false, false},
		"equal logs":                            {[]server{{"", more, zero}, {"", more, zero}, {"", less, zero}}, true, false},
		"equal logs, and one number":            {[]server{{"1", more, zero}, {"", more, zero}, {"3", less, zero}}, true, false},
		"logs that differ":                      {[]server{{"", more, zero}, {"", older, zero}, {"", less, zero}}, false, false},
		"equal logs of most":                    {[]server{{"", less, zero}, {"", less, zero}, {"", more, zero}, {"", older, zero}}, true, false},
		"a server without a log":                {[]server{{"1", more, zero}, {"2", less, zero}, {"3", nil, zero}}, true, false},
		"all have all":                          {[]server{{"1", more, zero}, {"2", more, zero}, {"3", more, zero}}, false, false},
		"all have all, and may be one":          {[]server{{"", more, zero}, {"", more, zero}, {"", more, zero}}, false, true},
		"all are one":                           {[]server{{"1", more, zero}, {"1", less, zero}}, false, true},
	} {
		_, log := open(t, test.servers...)
		kinds := map[txnlog.NoteKind]bool{}
		for _, n := range log.Notes {
			kinds[n.Kind] = true
		}
		if kinds[txnlog.Unconfirmed] != test.unconfirmed || kinds[txnlog.Others] != test.others || log.Incomplete != (test.unconfirmed || test.others) {
			t.Errorf("%s: got %v, want unconfirmed %v, others %v", name, notes(log), test.unconfirmed, test.others)
		}
	}
}

// Servers keep their number beside version-2.
func TestNumberOfAServerStandsBesideItsFiles(t *testing.T) {
	var dirs []string
	for _, number := range []string{"1", "2"} {
		parent := t.TempDir()
		dir := filepath.Join(parent, "version-2")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"myid": []byte(number), "version-2/log.100000001": logOf(made(e1+1, 7, "/a"))} {
			if err := os.WriteFile(filepath.Join(parent, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		dirs = append(dirs, parent, dir)
	}
	for name, two := range map[string][]string{"dataDir": {dirs[0], dirs[2]}, "version-2": {dirs[1], dirs[3]}} {
		_, log := replayed(t, "/", two...)
		wantNotes(t, name, log)
	}
	_, log := replayed(t, "/", dirs[0], dirs[1])
	wantNotes(t, "one directory twice", log, "one server of an ensemble")
}
