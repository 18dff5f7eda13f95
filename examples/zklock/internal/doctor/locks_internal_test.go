package doctor

import (
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

func TestLocksAreJudged(t *testing.T) {
	for _, c := range []struct {
		got  Finding
		want string
	}{
		{kindFinding(&survey.Lock{Kind: "mutex"}), ""},
		{kindFinding(&survey.Lock{Kind: "kazoo+mutex"}), Look},
		{kindFinding(&survey.Lock{Kind: "mutex+read/write"}), Wrong},
		{permissionFinding("/l", zk.WorldACL(zk.PermAll)), ""},
		{permissionFinding("/l", zk.WorldACL(zk.PermRead|zk.PermCreate)), Wrong},
		{permissionFinding("/l", append(zk.WorldACL(zk.PermRead), zk.DigestACL(zk.PermCreate|zk.PermDelete, "a", "b")...)), ""},
		{counterFinding("/l", &zk.Stat{Cversion: 1000}), ""},
		{counterFinding("/l", &zk.Stat{Cversion: -2147483648, NumChildren: 2}), Look},
		{counterFinding("/l", &zk.Stat{Cversion: -131072}), Wrong},
	} {
		if c.got.Level != c.want {
			t.Errorf("got %+v, want level %q", c.got, c.want)
		}
	}
}

func TestDoctorFindsASessionThatWaitsBehindItself(t *testing.T) {
	for name, c := range map[string]struct {
		kind, contenders string // state, session
		found            bool
	}{
		"a mutex":                         {"mutex", "holds 1,waits 1", true},
		"a mutex of two sessions":         {"mutex", "holds 1,waits 2", false},
		"a writer behind a writer":        {"read/write", "holds 1,waits to read 2,waits 1", true},
		"a writer behind a reader":        {"read/write", "reads 1,waits 1", true},
		"a writer that reads as well":     {"read/write", "holds 1,waits to read 1", false},
		"a full semaphore":                {"semaphore", "holds 1,holds 1,next 1,waits 1", true},
		"a full semaphore of two":         {"semaphore", "holds 1,holds 2,next 1,waits 1", false},
		"a semaphore that others wait at": {"semaphore", "holds 1,holds 1,next 2,waits 2", false},
		"two latches of one session":      {"latch", "leads 1,waits 1", false},
	} {
		lock := &survey.Lock{Path: "/locks/a", Kind: c.kind}
		for text := range strings.SplitSeq(c.contenders, ",") {
			i := strings.LastIndex(text, " ")
			lock.Contenders = append(lock.Contenders, survey.Contender{State: text[:i], Session: int64(text[i+1])})
		}
		var e examination
		e.waitsBehindItself(lock)
		if got := len(e.found) == 1; got != c.found {
			t.Errorf("%s: got findings %v, want one: %t", name, e.found, c.found)
		}
	}
}
