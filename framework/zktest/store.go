package zktest

import (
	"sync"
	"sync/atomic"
	"time"
)

// store is what all servers of an ensemble share: the leader's tree, the
// sessions and the clock. A single server has one to itself.
type store struct {
	cfg    config
	turn   chan struct{} // held while a request is observed and executed
	hooked atomic.Bool   // there are observers, counters or rules

	mu           sync.Mutex
	tree         *tree
	zxid         int64
	secret       int64
	sessions     map[int64]*session
	nextSession  int64
	expiry       sessionHeap
	origin       time.Time
	frozenAt     time.Time // zero unless frozen
	servers      []*Server
	leader       *Server
	rules        []*rule
	lostEvents   []*rule // each drops one event
	silenced     []*rule // each drops all
	observers    []*observer
	counters     []*counter
	txnObservers []*txnObserver
	counts       map[Op]int
	beyond       map[string]overrun // by parent: its sequence numbers have ended
	conns        int                // ever accepted
	doomed       []func()           // network calls to make once mu is released
	closed       bool
	down         chan struct{} // closed by Close

	alarm   *time.Timer
	alarmAt time.Duration
	reapAt  time.Duration // 0: nothing to look for
	relayAt time.Duration // 0: no follower has heard of a session
	alarms  sync.WaitGroup
}

func newStore(cfg config) *store {
	now := time.Now()
	return &store{
		cfg: cfg, turn: make(chan struct{}, 1), tree: newTree(&cfg), origin: now, secret: now.UnixNano(),
		sessions: make(map[int64]*session), nextSession: firstSession(1, now), counts: make(map[Op]int),
		beyond: make(map[string]overrun), down: make(chan struct{}),
	}
}

// unlock releases mu and then does what must not be done under it.
func (st *store) unlock() {
	doomed := st.doomed
	st.doomed = nil
	st.mu.Unlock()
	for _, f := range doomed {
		f()
	}
}

// schedule sets the one timer to the next thing to do. While frozen, and
// while there is nothing to do, there is none.
func (st *store) schedule() {
	next := st.nextTask()
	if next == st.alarmAt {
		return
	}
	st.cancelAlarm()
	if next > 0 {
		st.alarmAt = next
		st.alarms.Add(1)
		st.alarm = time.AfterFunc(next-st.elapsed(), func() {
			defer st.alarms.Done()
			st.ring(next)
		})
	}
}

// nextTask returns when something is to be done; 0: nothing is.
func (st *store) nextTask() (next time.Duration) {
	if st.closed || !st.frozenAt.IsZero() {
		return 0
	}
	sooner := func(at time.Duration) {
		if at > 0 && (next == 0 || at < next) {
			next = at
		}
	}
	if len(st.expiry) > 0 {
		sooner(st.expiry[0].queuedAt)
	}
	sooner(st.reapAt)
	sooner(st.relayAt)
	for _, s := range st.servers {
		sooner(s.nextTask())
	}
	return next
}

func (st *store) cancelAlarm() {
	if st.alarm != nil && st.alarm.Stop() {
		st.alarms.Done()
	}
	st.alarm, st.alarmAt = nil, 0
}

// ring runs what is due. An alarm that was set again, or stopped too late to be kept from ringing, finds alarmAt
// changed and leaves.
func (st *store) ring(at time.Duration) {
	st.mu.Lock()
	defer st.unlock()
	if st.closed || st.alarmAt != at || !st.frozenAt.IsZero() {
		return
	}
	st.alarm, st.alarmAt = nil, 0
	now := st.elapsed()
	for _, s := range st.servers {
		s.follow(now)
	}
	st.relayDue(now)
	st.expireDue(now)
	st.reapDue(now)
	st.schedule()
}

// reapLater makes sure that the next scan for containers takes place.
func (st *store) reapLater() {
	if st.reapAt == 0 {
		st.reapAt = boundary(st.elapsed(), st.cfg.reap)
		st.schedule()
	}
}

// reapDue removes containers that had children and have none, and TTL nodes
// that are childless and too old: those present at the beginning of the scan,
// so a chain of containers goes one level with each scan.
func (st *store) reapDue(now time.Duration) {
	if st.reapAt == 0 || st.reapAt > now {
		return
	}
	st.reapAt = 0
	wall := time.Now().UnixMilli()
	var old []string
	for _, path := range sortedKeys(st.tree.containers) {
		if n := st.tree.containers[path]; n.creates > 0 && len(n.children) == 0 {
			old = append(old, path)
		}
	}
	for _, path := range sortedKeys(st.tree.ttls) {
		if n := st.tree.ttls[path]; len(n.children) == 0 && wall-n.mtime > n.ttl {
			old = append(old, path)
		}
	}
	for _, path := range old {
		t := st.begin(0, nil)
		t.drop(path)
		t.commit()
	}
	if len(st.tree.ttls) > 0 {
		st.reapLater()
	}
}
