package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/framework/zktest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

const guid = "_c_ba785fd9-44cb-4a14-8cfd-2b3b5c2badb3-"

// replay builds transactions from lines such as "create 7 lock-1", which session 7 does below /l, "delete 7 lock-1",
// "expire 7", "close 7", "revoke 7 lock-1" and
// "write 7 lock-1". Each is a second later than the one before, and has the next zxid, from
// 1 on. Sessions are numbers below 10, numbers of nodes have two digits.
func replay(lines ...string) (all []zktest.Transaction) {
	owner := map[string]int64{}
	for i, line := range lines {
		words := strings.Fields(line)
		t := zktest.Transaction{Zxid: int64(i + 1), At: noon.Add(time.Duration(i+1) * time.Second), Session: int64(words[1][0] - '0'), Request: 1}
		change := func(kind zktest.ChangeKind, path, data string) {
			t.Changes = append(t.Changes, zktest.Change{Kind: kind, Path: path, Data: []byte(data), Owner: owner[path]})
		}
		switch words[0] {
		case "create":
			owner[at(words[2])] = t.Session
			change(zktest.Created, at(words[2]), "client "+words[1])
		case "delete":
			change(zktest.Deleted, at(words[2]), "")
		case "revoke":
			change(zktest.DataSet, at(words[2]), "__REVOKE__")
		case "write":
			change(zktest.DataSet, at(words[2]), "more")
		case "expire", "close":
			t.EndsSession = true
			if words[0] == "expire" {
				t.Request = 0
			}
			var gone []string
			for path, session := range owner {
				if session == t.Session {
					gone = append(gone, path)
				}
			}
			slices.Sort(gone)
			for _, path := range gone {
				change(zktest.Deleted, path, "")
			}
		}
		for _, c := range t.Changes {
			if c.Kind == zktest.Deleted {
				delete(owner, c.Path)
			}
		}
		all = append(all, t)
	}
	return all
}

// at is the path of a node with a short name: its number has ten digits. Negative numbers are written as they are.
func at(name string) string {
	if strings.Contains(name, "--") {
		return "/l/" + name
	}
	i := len(name) - 2
	return "/l/" + name[:i] + "00000000" + name[i:]
}

// lines print what became of each contender: its short name, the zxids at which it queued, was let in and ended, and
// how.
func lines(h *history.History) (list []string) {
	for _, lock := range h.Locks {
		for _, c := range lock.Contenders {
			short := strings.Replace(strings.TrimPrefix(c.Path, "/l/"), "00000000", "", 1)
			line := fmt.Sprintf("%s %d %d %d %s", short, c.Queued.Zxid, c.LetIn.Zxid, c.Ended.Zxid, c.How)
			if c.Token != c.Czxid {
				line += fmt.Sprintf(" token %d", c.Token)
			}
			if c.AskedToLeave.Zxid != 0 {
				line += fmt.Sprintf(" asked %d", c.AskedToLeave.Zxid)
			}
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

func TestHistorySaysWhatBecameOfEachContender(t *testing.T) {
	for name, test := range map[string]struct {
		kind  string
		steps []string
		want  []string
	}{
		"mutex": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-02", "create 3 lock-03", "delete 1 lock-01", "delete 3 lock-03", "delete 2 lock-02"},
			[]string{"lock-01 1 1 4 released", "lock-02 2 4 6 released", "lock-03 3 0 5 gave up"},
		},
		"a holder whose session expires": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-02", "expire 1"},
			[]string{"lock-01 1 1 3 expired", "lock-02 2 3 0"},
		},
		"a client that closes its session": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-02", "close 2"},
			[]string{"lock-01 1 1 0", "lock-02 2 0 3 closed"},
		},
		"a session that ends behind itself": {
			"mutex",
			[]string{"create 1 lock-01", "create 1 lock-02", "create 2 lock-03", "expire 1"},
			[]string{"lock-01 1 1 4 expired", "lock-02 2 0 4 expired", "lock-03 3 4 0"},
		},
		"a holder that an administrator removes": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-02", "delete 9 lock-01"},
			[]string{"lock-01 1 1 3 removed", "lock-02 2 3 0"},
		},
		"a node without a session, and the server's own removal": {
			"mutex",
			[]string{"create 0 lock-01", "create 2 lock-02", "write 2 lock-02", "delete 0 lock-01"},
			[]string{"lock-01 1 1 4 removed", "lock-02 2 4 0"},
		},
		"mutexes of Java, Go and kazoo": {
			"kazoo+mutex",
			[]string{"create 1 " + guid + "lock-01", "create 2 0123456789abcdef0123456789abcdef__lock__02", "create 3 lock-03", "delete 1 " + guid + "lock-01"},
			[]string{guid + "lock-01 1 1 4 released", "0123456789abcdef0123456789abcdef__lock__02 2 4 0", "lock-03 3 0 0"},
		},
		"readers share, writers do not": {
			"read/write",
			[]string{
				"create 1 __READ__01", "create 2 __READ__02", "create 3 __WRIT__03", "create 4 __READ__04", "create 5 __READ__05",
				"delete 1 __READ__01", "delete 2 __READ__02", "delete 3 __WRIT__03",
			},
			[]string{
				"__READ__01 1 1 6 released", "__READ__02 2 2 7 released", "__WRIT__03 3 7 8 released", "__READ__04 4 8 0", "__READ__05 5 8 0",
			},
		},
		"a writer becomes a reader": {
			"read/write",
			[]string{"create 1 __WRIT__01", "create 2 __WRIT__02", "create 1 __READ__01", "delete 1 __WRIT__01", "delete 1 __READ__01"},
			[]string{"__WRIT__01 1 1 4 released", "__WRIT__02 2 5 0", "__READ__01 3 3 5 released token 1"},
		},
		"a reader of another session with a writer's number": {
			"read/write",
			[]string{"create 1 __WRIT__01", "create 2 __READ__01"},
			[]string{"__WRIT__01 1 1 0", "__READ__01 2 2 0"},
		},
		"a holder that is asked to leave": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-02", "revoke 9 lock-01", "delete 1 lock-01"},
			[]string{"lock-01 1 1 4 released asked 3", "lock-02 2 4 0"},
		},
		"a node that comes again, and whose deletion is in no log": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock-01"},
			[]string{"lock-01 1 1 2 unknown", "lock-01 2 2 0"},
		},
		"a writer that gives up lets readers in": {
			"read/write",
			[]string{"create 1 __READ__01", "create 2 __WRIT__02", "create 3 __READ__03", "delete 2 __WRIT__02"},
			[]string{"__READ__01 1 1 0", "__WRIT__02 2 0 4 gave up", "__READ__03 3 4 0"},
		},
		"a latch beside a mutex": {
			"latch+mutex",
			[]string{"create 1 lock-01", "create 2 latch-02", "create 3 latch-03", "delete 2 latch-02"},
			[]string{"lock-01 1 1 0", "latch-02 2 2 4 released", "latch-03 3 4 0"},
		},
		"nodes behind the end of the counter are ahead": {
			"mutex",
			[]string{"create 1 lock-01", "create 2 lock--2147483647", "create 3 lock-03", "delete 1 lock-01", "delete 2 lock--2147483647"},
			[]string{"lock-01 1 1 4 released", "lock--2147483647 2 2 5 released", "lock-03 3 5 0"},
		},
		"a semaphore of two": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 2 locks/lock-02",
				"create 3 locks/lock-03", "create 4 locks/lock-04", "create 3 leases/lease-03", "delete 1 leases/lease-01", "delete 3 locks/lock-03",
				"delete 4 locks/lock-04",
			},
			[]string{
				"leases/lease-01 1 2 10 released", "leases/lease-02 4 5 0", "leases/lease-03 7 10 0", "locks/lock-04 8 0 12 gave up",
			},
		},
		"a session that ends with a lease behind its own": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 1 locks/lock-02", "create 1 leases/lease-02", "expire 1",
			},
			[]string{"leases/lease-01 1 2 6 expired", "leases/lease-02 4 0 6 expired"},
		},
		"two leases for one acquire": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 2 locks/lock-02",
				"create 3 locks/lock-03", "create 3 leases/lease-03", "delete 1 leases/lease-01", "create 3 leases/lease-04",
				"delete 2 leases/lease-02", "delete 3 locks/lock-03", "delete 3 leases/lease-03",
			},
			[]string{
				"leases/lease-01 1 2 9 released", "leases/lease-02 4 5 11 released", "leases/lease-03 7 11 13 released", "leases/lease-04 7 11 0",
			},
		},
		"two leases for one acquire, which gives up with one": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 2 locks/lock-02", "delete 1 leases/lease-01",
				"create 3 locks/lock-03", "create 3 leases/lease-03", "create 3 leases/lease-04",
				"delete 3 leases/lease-03", "delete 3 leases/lease-04", "delete 3 locks/lock-03",
			},
			[]string{
				"leases/lease-01 1 2 7 released", "leases/lease-02 4 5 0", "leases/lease-03 8 0 11 gave up", "leases/lease-04 8 0 12 gave up",
			},
		},
		"a session that ends with the first of two leases in": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 2 locks/lock-02", "delete 1 leases/lease-01",
				"create 3 locks/lock-03", "create 3 leases/lease-03", "create 3 leases/lease-04", "expire 3", "delete 2 leases/lease-02",
			},
			[]string{
				"leases/lease-01 1 2 7 released", "leases/lease-02 4 5 12 released", "leases/lease-03 8 0 11 expired", "leases/lease-04 8 0 11 expired",
			},
		},
		"a lease that is removed by hand while it waits": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 9 leases/lease-02", "delete 2 locks/lock-02",
			},
			[]string{"leases/lease-01 1 2 0", "leases/lease-02 4 0 6 removed"},
		},
		"a lease that is taken back": {
			"semaphore",
			[]string{
				"create 1 locks/lock-01", "create 1 leases/lease-01", "delete 1 locks/lock-01",
				"create 2 locks/lock-02", "create 2 leases/lease-02", "delete 2 leases/lease-02", "delete 2 locks/lock-02",
			},
			[]string{"leases/lease-01 1 2 0", "leases/lease-02 4 0 6 gave up"},
		},
	} {
		h := history.Of("/l", slices.Values(replay(test.steps...)), history.Options{})
		if got := lines(h); !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
		}
		if len(h.Locks) != 1 || h.Locks[0].Path != "/l" || h.Locks[0].Kind != test.kind {
			t.Errorf("%s: got the locks %+v, want one at /l of the kind %s", name, h.Locks, test.kind)
		}
	}
}
