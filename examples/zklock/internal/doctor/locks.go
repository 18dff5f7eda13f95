package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
)

// An examination collects findings about locks.
type examination struct {
	client *framework.Client
	many   int
	hide   bool // what nodes contain
	now    time.Time
	found  []Finding
	held   map[int64]map[string]bool // session → paths of locks
}

// add leaves out a finding without a level, which says that nothing was found.
func (e *examination) add(f Finding) {
	if f.Level != "" {
		e.found = append(e.found, f)
	}
}

// who is what a contender's node contains, in parentheses.
func (e *examination) who(c survey.Contender) string {
	if e.hide {
		return ""
	}
	return " (" + c.Who + ")"
}

// lock examines one lock. A node that disappears while it reads is no finding.
func (e *examination) lock(ctx context.Context, f survey.Found) error {
	if f.Refused {
		e.add(Finding{Unknown, f.Path, "this client may not read it", "run doctor with -auth, as a client that may"})
		return nil
	}
	lock, err := survey.Read(ctx, e.client, f.Path)
	if errors.Is(err, survey.ErrNoLock) {
		return nil
	}
	if errors.Is(err, zk.ErrNoAuth) {
		e.add(Finding{Unknown, f.Path, "this client may not read its nodes", "run doctor with -auth, as a client that may"})
		return nil
	}
	if err != nil {
		return err
	}
	e.add(kindFinding(lock))
	for _, name := range lock.Strangers {
		e.add(Finding{Wrong, f.Path, fmt.Sprintf("child %q is no contender", name), "Java Curator counts it: move it elsewhere"})
	}
	e.waitsBehindItself(lock)
	for _, dir := range directories(lock) {
		if err := e.directory(ctx, dir); err != nil && !errors.Is(err, zk.ErrNoNode) {
			return err
		}
	}
	return e.contenders(ctx, lock)
}

// kindFinding says whether kinds are mixed.
func kindFinding(lock *survey.Lock) Finding {
	kinds := strings.Split(lock.Kind, "+")
	switch {
	case len(kinds) == 1:
		return Finding{Level: ""}
	case slices.Equal(kinds, []string{"kazoo", "mutex"}), slices.Equal(kinds, []string{"kazoo", "read/write"}):
		return Finding{
			Look, lock.Path, "kazoo's contenders stand beside others",
			"kazoo waits for them only with extra_lock_patterns, and Java never waits for kazoo: see the runbook",
		}
	default:
		return Finding{
			Wrong, lock.Path, "two kinds of lock on one path: " + strings.Join(kinds, ", "),
			"in Java they do not exclude each other: give each kind a path of its own",
		}
	}
}

// directories are those that a lock's contenders are in.
func directories(lock *survey.Lock) []string {
	if strings.Contains(lock.Kind, "semaphore") {
		return []string{lock.Path, lock.Path + "/leases", lock.Path + "/locks"}
	}
	return []string{lock.Path}
}

// directory examines permissions and the counter.
func (e *examination) directory(ctx context.Context, dir string) error {
	acl, stat, err := e.client.ACL(ctx, dir)
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		e.add(Finding{Unknown, dir, "this client may not read its ACL", ""})
	case err != nil:
		return err
	default:
		e.add(permissionFinding(dir, acl))
		e.add(counterFinding(dir, stat))
	}
	return nil
}

// permissionFinding names the permissions that no client has.
func permissionFinding(dir string, acl []zk.ACL) Finding {
	var all int32
	for _, entry := range acl {
		all |= entry.Perms
	}
	var missing []string
	for _, p := range []struct {
		bit  int32
		name string
	}{{zk.PermCreate, "CREATE"}, {zk.PermDelete, "DELETE"}, {zk.PermRead, "READ"}} {
		if all&p.bit == 0 {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 {
		return Finding{}
	}
	return Finding{
		Wrong, dir, "its ACL gives no client " + strings.Join(missing, ", "),
		"contenders need CREATE to enter, DELETE to leave and READ to wait",
	}
}

// counterEnd is the last number that a directory gives; from newcomersRefused on, this library refuses newcomers.
const (
	counterEnd       = 1<<31 - 1
	newcomersRefused = 1<<31 - 1<<16
)

// counterFinding says how far a directory's counter is: creations are (changes + children) / 2.
func counterFinding(dir string, stat *zk.Stat) Finding {
	created := (int64(uint32(stat.Cversion)) + int64(stat.NumChildren)) / 2
	const advice = "stop using the lock for a minute, so that its directory is removed and its counter restarts; see the runbook"
	switch {
	case created >= newcomersRefused:
		return Finding{Wrong, dir, fmt.Sprintf("its counter is at its end: %d of %d", created, int64(counterEnd)), advice}
	case created >= counterEnd/2:
		return Finding{Look, dir, fmt.Sprintf("its counter is at %d of %d", created, int64(counterEnd)), advice}
	default:
		return Finding{}
	}
}

// contenders examines the nodes, and notes whose they are.
func (e *examination) contenders(ctx context.Context, lock *survey.Lock) error {
	for _, c := range lock.Contenders {
		stat, err := e.client.Exists(ctx, c.Path)
		if err != nil {
			return err
		}
		if stat == nil {
			continue
		}
		if stat.EphemeralOwner == 0 {
			e.add(Finding{
				Wrong, lock.Path, fmt.Sprintf("%s%s is no ephemeral node: it stays whatever becomes of its owner", c.Node, e.who(c)),
				"if nothing uses it, remove it by hand: zkCli.sh delete",
			})
			continue
		}
		if e.held == nil {
			e.held = map[int64]map[string]bool{}
		}
		if e.held[c.Session] == nil {
			e.held[c.Session] = map[string]bool{}
		}
		e.held[c.Session][lock.Path] = true
	}
	return nil
}

// waitsBehindItself finds sessions that hold a lock, or all leases of a semaphore, and wait for it. A reader is none: a
// writer may have the read lock as well.
func (e *examination) waitsBehindItself(lock *survey.Lock) {
	holds := map[int64]bool{}
	for _, c := range lock.Holders() {
		holds[c.Session] = true
	}
	switch {
	case lock.Kind == "mutex", lock.Kind == "read/write", lock.Kind == "semaphore" && len(holds) == 1:
	default:
		return
	}
	for _, c := range lock.Contenders {
		if (c.State == survey.Waits || c.State == survey.Next) && holds[c.Session] {
			e.add(Finding{
				Look, lock.Path, fmt.Sprintf("session %#x holds it, and waits for it as well%s", uint64(c.Session), e.who(c)),
				"goroutines of one client that contend are fine; if it hangs, it was acquired again without Lease.Context",
			})
			return
		}
	}
}

// sessions names those that have many locks.
func (e *examination) sessions() {
	ids := slices.SortedFunc(maps.Keys(e.held), cmp.Compare)
	for _, id := range ids {
		if n := len(e.held[id]); n >= e.many {
			e.add(Finding{
				Look, fmt.Sprintf("session %#x", uint64(id)), fmt.Sprintf("stands at %d locks", n),
				"if its session ends, it loses all of them; a leak of leases looks like this, too",
			})
		}
	}
}
