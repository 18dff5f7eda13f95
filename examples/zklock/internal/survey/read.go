package survey

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// ErrNoLock says that a path has no lock: there is no such node, or it has children that are no contenders.
var ErrNoLock = errors.New("no lock")

// States of contenders.
const (
	Holds = "holds"
	Reads = "reads" // holds the read lock
	Leads = "leads" // holds a latch
	Next  = "next"  // has made its lease of a semaphore, and waits until that counts; it also waits at the gate
	Waits = "waits"

	WaitsToRead = "waits to read" // for the read lock
)

// A Contender is a node in a lock's queue.
type Contender struct {
	State   string    `json:"state"`
	Who     string    `json:"who"` // the node's data, printable
	Node    string    `json:"node"`
	Path    string    `json:"path"`
	By      string    `json:"by,omitempty"` // the library, as far as the node's name shows it
	Session int64     `json:"-"`
	Since   time.Time `json:"since"` // when it came, by the server's clock
	Token   int64     `json:"token"`
}

// In reports whether it has been let in.
func (c Contender) In() bool { return c.State == Holds || c.State == Reads || c.State == Leads }

// A Lock is what stands at a path.
type Lock struct {
	Path string `json:"path"`
	// mutex, read/write, semaphore, latch, kazoo, several of them with +, or unused
	Kind       string      `json:"kind"`
	Contenders []Contender `json:"contenders"`
	Strangers  []string    `json:"strangers,omitempty"` // children that are no contenders
	Stat       *zk.Stat    `json:"-"`
}

// Holders returns those that have been let in.
func (l *Lock) Holders() (in []Contender) {
	for _, c := range l.Contenders {
		if c.In() {
			in = append(in, c)
		}
	}
	return in
}

// Waiting is how many have not been let in. One that is next has two nodes, and counts by that at the gate.
func (l *Lock) Waiting() (waiting int) {
	for _, c := range l.Contenders {
		if !c.In() && c.State != Next {
			waiting++
		}
	}
	return waiting
}

// Read returns what stands at a lock. It blocks like every operation of package framework, and returns their errors;
// ErrNoLock if the path is not one of a lock. A directory without any children counts as an unused lock.
func Read(ctx context.Context, client *framework.Client, lock string) (*Lock, error) {
	children, stat, err := client.Children(ctx, lock)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, fmt.Errorf("%w at %s: there is no such node. A lock that was not used for a while looks the same, "+
			"and so does a misspelt path; zklock ls / shows what there is", ErrNoLock, lock)
	}
	if err != nil {
		return nil, err
	}
	l := &Lock{Path: lock, Stat: stat}
	kinds, strangers := sortOut(children)
	l.Strangers = strangers
	l.Kind = describe(kinds)
	if len(kinds) == 0 && len(children) > 0 {
		return nil, fmt.Errorf("%w at %s: its children are none of a lock's, such as %q; zklock ls %[2]s shows the locks below",
			ErrNoLock, lock, children[0])
	}
	for _, read := range []struct {
		wanted bool
		of     func(context.Context, *framework.Client, string) ([]Contender, error)
	}{
		{kinds["semaphore"], semaphore},
		{kinds["mutex"] || kinds["read/write"] || kinds["kazoo"], mutex},
		{kinds["latch"], latch},
	} {
		if !read.wanted {
			continue
		}
		found, err := read.of(ctx, client, lock)
		if err != nil && !errors.Is(err, zk.ErrNoNode) { // it has gone meanwhile
			return nil, err
		}
		l.Contenders = append(l.Contenders, found...)
	}
	return l, nil
}

// sortOut sorts children by the kind of lock they belong to, and collects those that belong to none.
func sortOut(children []string) (kinds map[string]bool, strangers []string) {
	kinds = map[string]bool{}
	for _, child := range children {
		name, ok := ParseName(child)
		switch {
		case child == "leases", child == "locks" && slices.Contains(children, "leases"): // a lock can be called "locks"
			kinds["semaphore"] = true
		case !ok || name.Kind == Lease:
			strangers = append(strangers, child)
		default:
			kinds[name.Kind.family()] = true
		}
	}
	slices.Sort(strangers)
	return kinds, strangers
}

func describe(kinds map[string]bool) string {
	var all []string
	for kind := range kinds {
		all = append(all, kind)
	}
	if len(all) == 0 {
		return "unused"
	}
	slices.Sort(all)
	return strings.Join(all, "+")
}

// mutex reads the queue of a mutex or a read/write lock: the nodes of one count in the other's.
func mutex(ctx context.Context, client *framework.Client, lock string) (all []Contender, err error) {
	queue, err := locks.NewInterProcessMutex(client, lock).Participants(ctx)
	for _, p := range queue {
		state := Waits
		switch {
		case p.Holds && p.Shared:
			state = Reads
		case p.Holds:
			state = Holds
		case p.Shared:
			state = WaitsToRead
		}
		all = append(all, contender(p, state))
	}
	return all, err
}

// semaphore reads its two directories: the leases, and the queue for one.
func semaphore(ctx context.Context, client *framework.Client, lock string) (all []Contender, err error) {
	queue, err := locks.NewInterProcessMutex(client, lock+"/locks").Participants(ctx)
	if err != nil && !errors.Is(err, zk.ErrNoNode) { // this directory goes before that of the leases
		return nil, err
	}
	leases, err := locks.NewInterProcessSemaphoreV2(client, lock, 1).Participants(ctx) // the limit does not matter here
	if err != nil {
		return nil, err
	}
	for i, p := range leases {
		state := Holds
		if last := i == len(leases)-1; last && len(queue) > 0 && queue[0].Session == p.Session {
			state = Next
		}
		all = append(all, contender(p, state))
	}
	for _, p := range queue {
		all = append(all, contender(p, Waits))
	}
	return all, nil
}

// latch reads the queue of a LeaderLatch.
func latch(ctx context.Context, client *framework.Client, lock string) (all []Contender, err error) {
	participants, err := leader.NewLeaderLatch(client, lock).Participants(ctx)
	for _, p := range participants {
		state := Waits
		if p.IsLeader {
			state = Leads
		}
		all = append(all, contender(locks.Participant{
			Path: p.Path, Session: p.Session, Since: p.Since, Data: []byte(p.ID), Token: p.Token,
		}, state))
	}
	return all, err
}

func contender(p locks.Participant, state string) Contender {
	name, _ := ParseName(path.Base(p.Path))
	return Contender{
		State: state, Who: Text(p.Data), Node: path.Base(p.Path), Path: p.Path, By: name.By,
		Session: p.Session, Since: p.Since, Token: p.Token,
	}
}
