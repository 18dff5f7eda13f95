//go:build linux

package chaos_test

import (
	"fmt"
	"path"
	"slices"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

// help does what an operator would do for software that does not belong to this library: servers that find no leader
// though nothing is broken any more are started again, and so are processes that have forgotten a node. It reports
// whether there was something to do.
func (r *run) help() bool {
	leads := func(m *zookeeper.Member) bool { return m.Role() == "leader" }
	if await.Within(2*sessionTimeout, func() bool { return slices.ContainsFunc(r.ensemble.Members(), leads) }) {
		return r.restartForgetful()
	}
	fmt.Fprintln(r.t.Output(), "the servers have no leader, and are started again")
	r.report.Restarts["servers"]++
	r.ensemble.Restart(nil)
	return true
}

// repairServers starts the servers that have ended by themselves, so that the next faults find all of them. One that
// refuses to start on what it has written is repaired first.
func (r *run) repairServers() {
	for _, m := range r.ensemble.Members() {
		for tries := 0; m.Ended() && !r.t.Failed(); tries++ {
			if tries == 3 {
				r.t.Errorf("server %d ends again and again", m.ID())
				break
			}
			r.report.Restarts["servers that had ended"]++
			m.Start()
			if await.Within(graceForOthers, func() bool { return m.Ended() || m.Role() != "" }); !m.Ended() {
				break
			}
			if err := m.Repair(); err != nil {
				r.t.Error(err)
			}
		}
	}
}

// restartForgetful ends each process of another language that has forgotten a node, and starts another one in its
// place. It reports whether there was one. An acquire of such a process has failed without an answer to its creation,
// and the node keeps all others waiting while its session lasts. A contender has one node in a directory: of two,
// one is forgotten. A process of this library is left alone, and so the test fails.
func (r *run) restartForgetful() bool {
	found := false
	for _, s := range r.slots[:processes] {
		if slots[s.number].language != ours && r.hasForgotten(s) {
			r.report.Restarts[slots[s.number].language]++
			r.kill(s)
			r.start(s)
			found = true
		}
	}
	return found
}

// hasForgotten reports whether a contender of a slot has two nodes in one directory.
func (r *run) hasForgotten(s *slot) bool {
	seen := map[string]bool{}
	for _, node := range r.nodes() {
		who, _, err := r.observer.Get(r.t.Context(), node)
		if err != nil || !slices.Contains(s.whos, string(who)) {
			continue
		}
		place := path.Dir(node) + " " + string(who)
		if seen[place] {
			fmt.Fprintf(r.t.Output(), "%s has forgotten a node in %s\n", who, path.Dir(node))
			return true
		}
		seen[place] = true
	}
	return false
}

func TestForgottenNodesAreThoseOfOneContenderInOneDirectory(t *testing.T) {
	r := &run{t: t, observer: connect(t, zktest.New(t).Addr())}
	create := func(node, who string) {
		t.Helper()
		if _, _, err := r.observer.Create(t.Context(), node, []byte(who), framework.CreatingParentsIfNeeded()); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range append([]string{members}, queues...) {
		create(dir+"/unmarked", "")
	}
	s := &slot{whos: []string{"java.1", "java.2"}}
	create(semaphore+"/locks/a", "java.1")
	create(semaphore+"/leases/b", "java.1")
	create(withJava+"/a", "java.2")
	create(withJava+"/b", "go-1.1")
	create(withJava+"/c", "go-1.1")
	if r.hasForgotten(s) {
		t.Error("a node counts as forgotten although its contender has no other one in its directory")
	}
	create(semaphore+"/locks/b", "java.1")
	if !r.hasForgotten(s) {
		t.Error("of two nodes of one contender in one directory, none counts as forgotten")
	}
}
