//go:build linux

package chaos_test

import (
	"path"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

func seconds(at int64) float64 { return float64(at) / 1e9 }

func storeOf(dir string) string { return store + "/" + path.Base(dir) }

// hear takes what drivers report.
func (r *run) hear(a godriver.Answer) { r.history.hear(a) }

// judge judges a round that has ended.
func (r *run) judge() {
	r.awaitEmpty()
	for _, f := range r.followers {
		f.sync(r.t)
	}
	executed, err := r.ensemble.Transactions()
	if err != nil || len(executed) == 0 {
		r.t.Fatalf("got %d transactions from the servers' logs (%v), want some", len(executed), err)
	}
	r.report.Transactions += len(executed)
	r.report.Steps += r.record.Check(r.t, transactions(executed))
	l := newLedger(executed)
	r.blame("writes", r.history.problems)
	r.blame("the servers' log", l.found)
	overlaps := l.overlaps()
	r.report.Overlaps += len(overlaps)
	r.blame("two holders", overlaps)
	left := l.residue()
	r.report.Residue += len(left)
	r.blame("left", left)
	r.judgeLosses(l)
	for _, f := range r.followers {
		wrong, events := f.wrong(l)
		r.report.CacheEvents += events
		r.blame("a cache", wrong)
	}
	r.report.add(r, l)
	r.blame("nothing judged", r.unjudged(l))
	if *picture != "" {
		r.draw(*picture, l)
	}
}

// transactions are what was executed, for who wants to ask for it.
type transactions []zktest.Transaction

func (t transactions) Transactions() ([]zktest.Transaction, error) { return t, nil }

// blame fails the test for problems.
func (r *run) blame(what string, problems []string) {
	r.t.Helper()
	for _, problem := range problems[:min(len(problems), 10)] {
		r.t.Errorf("%s: %s", what, problem)
	}
}

// unjudged finds what the round has not done, though it takes part in each.
func (r *run) unjudged(l *ledger) (missing []string) {
	for _, kind := range []string{godriver.Begin, godriver.End, godriver.Token, godriver.Plain} {
		if r.history.writes[kind] == 0 {
			missing = append(missing, "no write of kind "+kind)
		}
	}
	for _, dir := range queues {
		if len(l.proofs[dir]) == 0 {
			missing = append(missing, "no hold in "+dir)
		}
	}
	if r.report.Steps == 0 || r.report.CacheEvents == 0 || len(r.episodes) == 0 {
		missing = append(missing, "no steps, events or faults")
	}
	return missing
}

// awaitReleased waits until this library has no node any more though its sessions go on, but for retained ones. Those
// of others go with their sessions at the latest.
func (r *run) awaitReleased() {
	var left []string
	if !await.Within(patience, func() bool {
		left = nil
		for _, node := range r.nodes() {
			owner, _, err := r.observer.Get(r.t.Context(), node)
			if path.Dir(node) != retained && err == nil && strings.HasPrefix(string(owner), ours) {
				left = append(left, node)
			}
		}
		return len(left) == 0
	}) {
		r.report.Residue += len(left)
		r.t.Errorf("left though all was released: %q", left)
	}
}

// awaitEmpty waits until there is no node at all.
func (r *run) awaitEmpty() {
	var left []string
	if !await.Within(patience, func() bool { left = r.nodes(); return len(left) == 0 }) {
		r.t.Errorf("left when all sessions had ended: %q", left)
	}
}

// nodes are those of contenders and registrations.
func (r *run) nodes() (all []string) {
	for _, dir := range append([]string{members, semaphore + "/locks"}, queues...) {
		children, _, err := r.observer.Children(r.t.Context(), dir)
		if err != nil {
			all = append(all, err.Error())
		}
		for _, name := range children {
			all = append(all, dir+"/"+name)
		}
	}
	return all
}

// judgeLosses wants each lease of ours to have ended before its node was removed, and with it each plain write that was
// executed while another node was first to be one of a lease that had ended.
func (r *run) judgeLosses(l *ledger) {
	clock := lookAtClocks()
	clock = span{min(clock.from, r.clock.from), max(clock.to, r.clock.to)}
	if clock.to-clock.from > int64(10*time.Millisecond) {
		r.t.Fatalf("the time of day was set by %v while the test ran: nothing can be judged", time.Duration(clock.to-clock.from))
	}
	const accuracy = int64(time.Millisecond) // that times in a log have
	ended := map[string]int64{}              // by node
	for _, one := range r.history.closed {
		if one.language != ours || one.killed {
			continue
		}
		node := one.path + "/" + one.node
		until := min(one.to, one.valid)
		ended[node] = max(ended[node], until)
		gone, ok := l.removed[node]
		margin := gone.UnixNano() + accuracy + clock.to - until
		if ok && margin < 0 {
			r.t.Errorf("%v: its node was removed %v before the lease ended", one, time.Duration(-margin))
		}
		if one.lost() {
			r.report.lost(time.Duration(margin), ok)
		}
	}
	for _, w := range l.late {
		r.report.LateWrites++
		until, known := ended[w.write.Path]
		if at := w.at.UnixNano() + accuracy + clock.to; known && until > at {
			r.t.Errorf("%s wrote for %s while another node was first, and its lease ended %v later",
				w.write.Who, w.write.Path, time.Duration(until-at))
		}
	}
}

// A span is from..to.
type span struct{ from, to int64 }

// lookAtClocks returns the interval in which the difference of CLOCK_MONOTONIC, which drivers go by, and the time of
// day, which servers go by, lies. It is as exact as the quickest of many looks.
func lookAtClocks() span {
	var best span
	for i := range 100 {
		from := godriver.Now()
		day := time.Now().UnixNano()
		if c := (span{from - day, godriver.Now() - day}); i == 0 || c.to-c.from < best.to-best.from {
			best = c
		}
	}
	return best
}
