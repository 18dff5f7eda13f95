//go:build unix

package differential_test

import (
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/zookeeper"
)

var (
	steps  = flag.Int("steps", 50_000, "how many random steps are compared")
	seed   = flag.Uint64("seed", 1, "of the first script; 0: any")
	length = flag.Int("length", 500, "steps in a script")
)

const tick = 100 * time.Millisecond

// superDigest is the digest of super:test.
const superDigest = "super:D/InIHSb7yEEbrWz8b9l71RjZJU="

// A pair is a real server and what claims to be like it.
type pair struct {
	t       *testing.T
	real    target
	options []zktest.Option
	runs    int
}

func newPair(t *testing.T, javaOption string, options ...zktest.Option) *pair {
	t.Helper()
	server := zookeeper.Start(t, zookeeper.Config{
		TickTime: tick, MaxSessionTimeout: time.Hour, SuperPassword: "test", ContainerCheckInterval: time.Hour,
		JavaOptions: []string{"-Dzookeeper.extendedTypesEnabled=true", javaOption},
	})
	dial := func() (net.Conn, error) { return net.Dial("tcp", server.Addr()) }
	return &pair{t: t, real: target{"ZooKeeper " + zookeeper.Version(), dial}, options: append(options,
		zktest.WithTickTime(tick), zktest.WithSessionTimeouts(2*tick, time.Hour), zktest.WithSuperDigest(superDigest),
		zktest.WithContainerCheckInterval(time.Hour), zktest.WithVersion(zookeeper.Version()))}
}

// here runs a script on zktest, where it takes no time.
func (p *pair) here(steps []step, dir string) (outcome []string, err error) {
	zktest.Bubble(p.t, func(*testing.T) {
		srv := zktest.NewServer(p.options...)
		defer srv.Close()
		dial := func() (net.Conn, error) { return srv.Dial("", "", 0) }
		outcome, err = target{"zktest", dial}.execute(steps, dir)
	})
	return outcome, err
}

// compare returns the first step whose outcome differs, and how; -1 if none does.
func (p *pair) compare(steps []step) (at int, difference string) {
	p.runs++
	dir := fmt.Sprintf("/%07x/R", p.runs)
	want, err := p.real.execute(steps, dir)
	if err != nil {
		fatal(p.t, err)
	}
	got, err := p.here(steps, dir)
	if err != nil {
		return len(steps), err.Error()
	}
	for i := range want {
		if want[i] != got[i] {
			return i - 1, fmt.Sprintf("%s:\n%s\nzktest:\n%s", p.real.name, want[i], got[i])
		}
	}
	return -1, ""
}

func TestRandomScriptsAreAnsweredTheSame(t *testing.T) {
	newPair(t, "-Dzookeeper.enforceQuota=false").answerTheSame(*steps, script)
}

// Without pipelining: a real server looks at what has been counted when a request comes, whatever is still to be done.
func TestRandomScriptsAreAnsweredTheSameWithEnforcedQuotas(t *testing.T) {
	newPair(t, "-Dzookeeper.enforceQuota=true", zktest.WithEnforcedQuotas()).answerTheSame(*steps/10, func(seed uint64, n int) []step {
		var s []step
		for _, name := range []string{"/a", "/b", "/c"} {
			at := quotas + root + name
			s = append(s, step{op: opCreate, path: at, acl: open},
				step{op: opCreate, path: at + "/zookeeper_limits", data: "count=2,bytes=9=;byteHardLimit=20;countHardLimit=5", acl: open},
				step{op: opCreate, path: at + "/zookeeper_stats", acl: open})
		}
		s = append(s, script(seed, n)...)
		for i := range s {
			s[i].alone = true
		}
		return s
	})
}

// answerTheSame compares scripts, until one differs or there were so many steps.
func (p *pair) answerTheSame(steps int, script func(seed uint64, n int) []step) {
	p.t.Helper()
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	start, done := time.Now(), 0
	for n := first; done < steps; n++ {
		s := script(n, *length)
		done += len(s)
		at, difference := p.compare(s)
		if at < 0 {
			continue
		}
		p.t.Logf("seed %d, step %d: %v: %s", n, at, s[max(at, 0):min(at+1, len(s))], difference)
		short := shrink(s, func(s []step) bool { at, _ := p.compare(s); return at >= 0 }, time.Minute)
		_, difference = p.compare(short)
		p.t.Fatalf("seed %d, the shortest script that is answered differently:\n%s\n%s", n, listing(short), difference)
	}
	p.t.Logf("%d steps from seed %d on in %v: no difference from %s", done, first, time.Since(start).Round(time.Second), p.real.name)
}

func listing(steps []step) string {
	lines := make([]string, len(steps))
	for i, s := range steps {
		lines[i] = s.String()
	}
	return strings.Join(lines, "\n")
}

func TestScriptsAreShrunkToWhatMatters(t *testing.T) {
	long := script(1, 300)
	for at := range long { // the script "fails" while it has a create by one client before a delete by another
		long[at].cut = 0
	}
	fails := func(s []step) bool {
		for i, first := range s {
			for _, second := range s[i:] {
				if first.op == opCreate && second.op == opDelete && first.client != second.client {
					return true
				}
			}
		}
		return false
	}
	if !fails(long) {
		t.Fatal("no script")
	}
	if short := shrink(long, fails, time.Minute); len(short) != 2 || !fails(short) {
		t.Fatalf("%s", listing(short))
	}
}
