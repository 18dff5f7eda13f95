package locks_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/locks/lockstest"
)

// A thread of the server stands still with A's create, A's connection breaks, and A gets the lock with a node that it
// makes on the next one. The old create is executed at last, while A holds the lock or after A's release: its node
// belongs to no contender, and B waits for it.
func TestACreateThatIsExecutedLateKeepsNobodyOut(t *testing.T) {
	for _, recipe := range lockstest.Recipes() {
		for when, late := range map[string]time.Duration{
			"while A holds it": 0, "after the release": time.Second / 2, "3 T after the loss": 3 * sessionTimeout,
		} {
			t.Run(recipe.Name+"/"+when, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) { stalledCreate(t, server, recipe, late) })
			})
		}
	}
}

func stalledCreate(t *testing.T, server *zktest.Server, recipe lockstest.Recipe, late time.Duration) {
	a, b := newPeer(t, server), newPeer(t, server)
	rival := recipe.New
	if recipe.Rival != nil {
		rival = recipe.Rival
	}
	dirs := []string{path}
	if recipe.Dirs != nil {
		dirs = recipe.Dirs(path)
	}
	for _, dir := range dirs { // no containers, which go while they are empty
		if _, _, err := a.Create(t.Context(), dir, nil, framework.CreatingParentsIfNeeded()); err != nil {
			t.Fatal(err)
		}
	}
	goOn := server.Stall(zktest.Match{Op: zktest.OpCreate2})
	waiting := begin(t.Context(), t, recipe.New(a.Client, path))
	server.CutSession(sessionID(t, a))
	lease := soon(t, waiting).must(t)
	execute := func() {
		synctest.Wait() // the gate's node goes
		before := len(contenders(server))
		goOn()
		synctest.Wait()
		if n := contenders(server); len(n) != before+1 {
			t.Fatalf("got nodes %q, the test needs one more than %d", n, before)
		}
	}
	if late == 0 {
		execute()
		time.Sleep(sessionTimeout)
	}
	release(t, lease)
	if late > 0 {
		time.Sleep(late)
		execute()
	}
	began := time.Now()
	var holds []*locks.Lease
	for range max(recipe.Capacity, 1) {
		holds = append(holds, soon(t, begin(t.Context(), t, rival(b.Client, path))).must(t))
	}
	if waited := time.Since(began); waited > 4*sessionTimeout {
		t.Errorf("B waited for %v, want at most four session timeouts", waited)
	}
	for _, hold := range holds {
		release(t, hold)
	}
	wantNoNodes(t, server)
}

// The reader's node of a downgrade has the writer's number: a late one keeps all writers out.
func TestADowngradeThatIsExecutedLateKeepsNobodyOut(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		a, b := newPeer(t, server), newPeer(t, server)
		lock := locks.NewInterProcessReadWriteLock(a.Client, path)
		writer := acquire(t, lock.WriteLock())
		goOn := server.Stall(zktest.Match{Op: zktest.OpMulti, Path: path + "/*"})
		reading := begin(writer.Context(t.Context()), t, lock.ReadLock())
		server.CutSession(sessionID(t, a))
		release(t, soon(t, reading).must(t))
		goOn()
		synctest.Wait()
		if n := server.Children(path); len(n) != 2 {
			t.Fatalf("got nodes %q, the test needs a reader's that is created late", n)
		}
		release(t, writer)
		began := time.Now()
		release(t, soon(t, begin(t.Context(), t, locks.NewInterProcessReadWriteLock(b.Client, path).WriteLock())).must(t))
		if waited := time.Since(began); waited > 4*sessionTimeout {
			t.Errorf("B waited for %v, want at most four session timeouts", waited)
		}
		wantNoNodes(t, server)
	})
}

// wantNoNodes looks below the lock when the last look for what is created late is over.
func wantNoNodes(t *testing.T, server *zktest.Server) {
	t.Helper()
	time.Sleep(5 * sessionTimeout)
	if n := contenders(server); len(n) > 0 {
		t.Errorf("got nodes %q, want none", n)
	}
}

// contenders are the nodes of a lock of any kind.
func contenders(server *zktest.Server) (nodes []string) {
	for _, dir := range []string{path, path + "/leases", path + "/locks", path + "/a", path + "/b"} {
		for _, name := range server.Children(dir) {
			if strings.HasPrefix(name, "_c_") {
				nodes = append(nodes, name)
			}
		}
	}
	return nodes
}
