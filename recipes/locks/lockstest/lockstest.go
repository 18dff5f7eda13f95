package lockstest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/journaltest"
	"github.com/gocurator/curator/recipes/locks"
)

// A Recipe is a lock under test, with what laws must know of it.
type Recipe struct {
	// Name stands in the names of the tests.
	Name string
	// New makes the lock. All locks that are made with one path exclude each other as the recipe says.
	New func(client *framework.Client, path string, opts ...locks.Option) locks.Lock
	// Rival makes a lock that excludes those of New, and itself: the write lock is a read lock's. If it is nil, New
	// does.
	Rival func(client *framework.Client, path string, opts ...locks.Option) locks.Lock
	// Capacity is how many leases of New there can be at once; 0 means any number.
	Capacity int
	// Reentrant says that the context of a lease lets its owner in again.
	Reentrant bool
	// Dirs are the directories in which nodes of the lock stand; if it is nil, the lock's path is the only one.
	Dirs func(path string) []string
	// Marker is what stands in the name of a lease's node before the number: "lock-".
	Marker string
	// Watches is how many watches there are at the server while waiters of as many clients wait for leases of one more
	// client. If it is nil: each waiter's own node and the one ahead, and the nodes of the leases.
	Watches func(leases, waiters int) int
	// Foreign are names of other libraries' nodes that this lock waits for, but for the number.
	Foreign []string
	// Gated says that contenders stand in a queue of their own before they have a node that will be a lease's.
	Gated bool
	// Retained says that the node of a lease may stay for the next contender of its client: a release does not always
	// remove it, and a holder may list the directory to hear of other clients' contenders.
	Retained bool
	// Composed says that the lock consists of others: its leases have no node and no token of their own.
	Composed bool
}

// A Capability is something that a backend may be able to do to its servers.
type Capability string

// The capabilities that not every backend has.
const (
	// Counters is a Server that is a [CounterSetter].
	Counters Capability = "set the counter of a directory"
	// Followers is a Server that is an [Ensemble].
	Followers Capability = "cut a follower off from its leader, or let it lag"
	// Bubble says that laws run in a testing/synctest bubble: time is exact, and costs nothing.
	Bubble Capability = "stop the clock"
)

// A Backend is a kind of ZooKeeper on which laws are run.
type Backend interface {
	// Run runs one law, as a test of its own or in a bubble.
	Run(t *testing.T, law func(t *testing.T, server Server))
	// MissingCapabilities returns what the backend cannot do, with the reasons.
	MissingCapabilities() map[Capability]string
}

// A Server is one ZooKeeper, or an ensemble, as an administrator sees it. What fails is a failure of the law's test.
type Server interface {
	// NewLink returns a client's own path to the server, to the leader of an ensemble.
	NewLink() *Link
	// SessionTimeout is what clients should ask for: long enough for the speed of the backend.
	SessionTimeout() time.Duration
	// Children returns the names of a node's children, nil if there is no node.
	Children(path string) []string
	// Stat returns nil if there is no node.
	Stat(path string) *zk.Stat
	Data(path string) []byte
	Create(path string, data []byte)
	// Delete removes a node. It may be gone already: servers remove empty containers at any time.
	Delete(path string)
	// Watches counts the watches of all clients on a node's data and existence.
	Watches(path string) int
	// AllWatches counts the watches on all nodes.
	AllWatches() int
	// ExpireSession ends a session that was made on that link, as an administrator or the passing of time does.
	ExpireSession(link *Link, session int64)
	// Restart ends the server as kill -9 does, and starts it again. Sessions get their full timeout again.
	Restart()
	// Record begins to enter what the server executes into a journal. read returns the journal so far, with all that
	// clients have got an answer for, and what the server is like.
	Record(journal *journaltest.Journal) (read func() ([]journaltest.Event, journaltest.Servers))
}

// A CounterSetter can make a directory look as if many nodes had been created in it.
type CounterSetter interface {
	// SetCounter makes n the next number under path.
	SetCounter(path string, n int32)
}

// An Ensemble has a leader and at least one follower.
type Ensemble interface {
	// NewFollowerLink returns a client's own path to the follower.
	NewFollowerLink() *Link
	// Isolate cuts the follower off from its leader. It goes on answering reads and pings for SyncLimit.
	Isolate()
	SyncLimit() time.Duration
	// Rejoin undoes Isolate.
	Rejoin()
	// SetLag sets how much later than the leader the follower applies what is committed from now on.
	SetLag(lag time.Duration)
}

// A law is one thing that a lock promises.
type law struct {
	name  string
	needs []Capability
	// unless says why the law is not one for a recipe; nil or "" if it is.
	unless func(r Recipe) string
	run    func(t testing.TB, w *world)
}

// Run runs all laws on a recipe. What the backend cannot show is skipped, and listed in the log.
func Run(t *testing.T, backend Backend, recipe Recipe) {
	t.Helper()
	if recipe.New == nil || recipe.Name == "" {
		t.Fatalf("lockstest: got recipe %q, New set: %t; want both", recipe.Name, recipe.New != nil)
	}
	missing := backend.MissingCapabilities()
	_, realTime := missing[Bubble]
	var unseen []string
	for _, law := range laws() {
		t.Run(law.name, func(t *testing.T) {
			for _, capability := range law.needs {
				if reason, isMissing := missing[capability]; isMissing {
					unseen = append(unseen, fmt.Sprintf("%s: it cannot %s: %s", law.name, capability, reason))
					t.Skip(unseen[len(unseen)-1])
				}
			}
			if law.unless != nil {
				if reason := law.unless(recipe); reason != "" {
					t.Skipf("no law for %s: %s", recipe.Name, reason)
				}
			}
			backend.Run(t, func(t *testing.T, server Server) {
				if realTime {
					runInRealTime(t, server, recipe, law)
					return
				}
				law.run(t, newWorld(t, server, recipe, true))
			})
		})
	}
	if len(unseen) > 0 {
		t.Logf("this backend cannot show of %s:\n\t%s", recipe.Name, strings.Join(unseen, "\n\t"))
	}
}

// laws are all laws, by guarantee.
func laws() []law {
	var all []law
	for _, some := range [][]law{
		exclusion(), holderFirst(), firstCome(), oneWakeUp(), noResidue(), lostReply(), sessionTrue(), removedByHand(), fence(),
		outages(), strangers(), closing(), sameWire(), reentry(), timeLimits(), contended(),
	} {
		all = append(all, some...)
	}
	return all
}

// composed is for laws about the node of a lease.
func composed(r Recipe) string {
	if r.Composed {
		return "its leases have no node of their own"
	}
	return ""
}
