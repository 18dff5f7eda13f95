//go:build linux

package causes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// A quota is a cgroup of a test, whose processes get a thousandth of a processor, a millisecond in each second, while
// it is tight.
type quota struct {
	dir string
	// version2 says of which version the hierarchy is: a client reads how long it was throttled from version 2 alone.
	version2 bool
}

// newQuota makes a cgroup where this machine lets a test do that, in a hierarchy of version 2 or 1.
func newQuota(t *testing.T) *quota {
	t.Helper()
	mounts, err := os.ReadFile("/proc/mounts")
	if err != nil {
		t.Fatal(err)
	}
	failures := []string{"no hierarchy has the controller cpu"}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 4 {
			continue
		}
		q := &quota{version2: fields[2] == "cgroup2"}
		control, _ := os.ReadFile(filepath.Join(fields[1], "cgroup.subtree_control"))
		if q.version2 && !slices.Contains(strings.Fields(string(control)), "cpu") ||
			!q.version2 && (fields[2] != "cgroup" || !slices.Contains(strings.Split(fields[3], ","), "cpu")) {
			continue
		}
		q.dir = filepath.Join(fields[1], fmt.Sprintf("curator-causes-%d", os.Getpid()))
		if err = os.Mkdir(q.dir, 0o700); err != nil {
			failures = append(failures, err.Error())
			continue
		}
		t.Cleanup(func() {
			if !await.Within(time.Minute, func() bool { err = os.Remove(q.dir); return err == nil }) {
				t.Errorf("the test leaves a cgroup behind: %v", err)
			}
		})
		return q
	}
	t.Skipf("no cgroup with a quota can be made here (%s): the words of a throttled process are tested against a directory of files",
		strings.Join(failures, "; "))
	return nil
}

func (q *quota) write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(q.dir, file), []byte(text), 0o600); err != nil {
		t.Error(err)
	}
}

// tighten sets the quota, or lifts it.
func (q *quota) tighten(t *testing.T, tight bool) {
	t.Helper()
	switch {
	case q.version2 && tight:
		q.write(t, "cpu.max", "1000 1000000")
	case q.version2:
		q.write(t, "cpu.max", "max 1000000")
	case tight:
		q.write(t, "cpu.cfs_period_us", "1000000")
		q.write(t, "cpu.cfs_quota_us", "1000")
	default:
		q.write(t, "cpu.cfs_quota_us", "-1")
	}
}

// A process that spends its quota at once, and more, stands until it has paid for that. In between it runs, may hear
// from the server, and may leave it. Whether the sentence has the throttling depends on the version: the output says
// how many have it.
func TestAThrottledProcessIsNamed(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t, zookeeper.Config{})
	q := newQuota(t)
	c := &tally{cause: "a CPU quota", want: session.LossProcessStopped, anyUnknown: true}
	throttled := 0
	c.fill(t, func(n int) {
		holders := startHolders(t, min(n, 5), server.Addr(),
			"sh", "-c", `echo $$ >"$0" && exec env GOMAXPROCS=2 "$@"`, filepath.Join(q.dir, "cgroup.procs"))
		for _, h := range holders {
			h.Order(godriver.Order{Op: "crowd", N: 4, MS: (2 * sessionTimeout).Milliseconds()})
		}
		q.tighten(t, true)
		began := godriver.Now()
		time.Sleep(2 * sessionTimeout)
		ended := godriver.Now()
		q.tighten(t, false)
		for _, h := range holders {
			select {
			case a := <-h.lost:
				c.add(t, a, truth{began: began, ended: ended, stopped: true, says: starved})
				if a.Loss != nil && strings.Contains(a.Loss.Sentence, "its cgroup was throttled for ") {
					throttled++
				}
			case <-time.After(sessionTimeout):
				c.disturbed++ // it renewed its lease in the milliseconds that it had
			}
			h.Kill()
		}
	})
	fmt.Fprintf(t.Output(), "a CPU quota, by a hierarchy of version 2: %t; %d sentences have the throttling\n", q.version2, throttled)
}
