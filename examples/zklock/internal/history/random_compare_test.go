package history_test

import (
	"slices"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/history"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// compareNow compares who holds and who waits with what package survey reads at this moment, by the recipes.
func (p *play) compareNow(client *framework.Client, seed uint64) {
	for _, path := range []string{"/l/mutex", "/l/rw", "/l/semaphore", "/l/latch"} {
		before := p.count()
		lock, err := survey.Read(p.t.Context(), client, path)
		if err == nil && p.count() == before { // else it is of more than one moment, or the reader's session has ended
			p.compareWith(lock, seed)
		}
	}
}

func (p *play) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.executed)
}

func (p *play) compareWith(read *survey.Lock, seed uint64) {
	there := map[string]bool{}
	for _, lock := range p.history().Locks {
		for _, c := range lock.Contenders {
			if c.How == "" {
				there[c.Path] = c.LetIn.Zxid != 0
			}
		}
	}
	for _, c := range read.Contenders {
		in, known := there[c.Path]
		// The place at the gate of a client that has a lease is one contender with that. The client reads the leases
		// before it believes that its own counts.
		hasLease := func(other survey.Contender) bool { return other.Session == c.Session && other.State == survey.Next }
		// Of an acquire of two it takes the first for held.
		if c.State == survey.Next || read.Kind == "semaphore" && (!known || !in) && slices.ContainsFunc(read.Contenders, hasLease) {
			continue
		}
		if !known || in != c.In() {
			p.t.Errorf("seed %d: %s: got known %t and let in %t, want %s", seed, c.Path, known, in, c.State)
		}
		p.looks++
	}
}

// removedPlaces has the creations of the places at the semaphore's gate that were removed by hand. Clients that hear of
// it in time begin again.
func (p *play) removedPlaces() map[int64]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	created, removed := map[string]int64{}, map[int64]bool{}
	for _, t := range p.executed {
		for _, c := range t.Changes {
			if c.Kind == zktest.Created {
				created[c.Path] = t.Zxid
			} else if c.Kind == zktest.Deleted && t.Session == 0 {
				removed[created[c.Path]] = true
			}
		}
	}
	return removed
}

// compare compares the whole history with the clients' records.
func (p *play) compare(seed uint64) {
	wrong := func(format string, args ...any) { p.t.Errorf("seed %d: "+format, append([]any{seed}, args...)...) }
	byName := map[string]history.Contender{}
	for _, lock := range p.history().Locks {
		for _, c := range lock.Contenders {
			byName[c.Node] = c
		}
		for _, a := range lock.Contenders {
			for _, b := range lock.Contenders {
				if lock.Kind != "semaphore" && a.Token < b.Token && overlap(a, b) && (!a.Kind.Shared() || !b.Kind.Shared()) {
					wrong("%s: %s and %s overlap", lock.Path, a.Node, b.Node)
				}
			}
		}
	}
	for _, lock := range p.history().Locks {
		if together := most(lock.Contenders); lock.Kind == "semaphore" && together > limit {
			wrong("%s: %d leases are in at one time, the limit is %d", lock.Path, together, limit)
		}
	}
	for _, h := range p.holds {
		c, ok := byName[h.name]
		delete(byName, h.name)
		switch {
		case !ok:
			wrong("%s is not in the history", h.name)
		case c.Token != h.token:
			wrong("%s: got the token %d, want %d", h.name, c.Token, h.token)
		case c.LetIn.Zxid == 0 || c.LetIn.At.After(h.acquired):
			wrong("%s: let in at %v, want before %v", h.name, c.LetIn, h.acquired)
		case c.How == "" || c.How == history.GaveUp || c.How == history.Closed,
			// before that, it let go without having heard of the end
			!h.lost && c.How != history.Released && c.Ended.At.After(h.ended):
			wrong("%s: got %q, and its client released it: %t", h.name, c.How, !h.lost)
		case c.How == history.Released && c.Ended.At.Before(h.ended.Truncate(time.Millisecond)):
			wrong("%s: ended at %v, before its client let go at %v", h.name, c.Ended.At, h.ended)
		}
	}
	removed := p.removedPlaces()
	for _, c := range byName { // those of which no client has a lease
		// A client whose session expires as it is let in acquires once more, in the next session.
		again := func(h hold) bool { return c.How == history.Expired && (span{h.began, h.acquired}).has(c.Queued.At) }
		gaveUp := func(s span) bool { return s.has(c.Queued.At) }
		if c.LetIn.Zxid != 0 && !removed[c.Queued.Zxid] && !slices.ContainsFunc(p.holds, again) && !slices.ContainsFunc(p.failed, gaveUp) {
			wrong("no client has acquired %s: %+v", c.Node, c)
		}
	}
	if len(p.holds) == 0 && len(p.failed) == 0 {
		wrong("nothing happened")
	}
}

func overlap(a, b history.Contender) bool {
	in := func(c history.Contender) bool { return c.LetIn.Zxid != 0 }
	return in(a) && in(b) && (a.Ended.Zxid == 0 || b.LetIn.Zxid < a.Ended.Zxid)
}

// most is how many contenders were in at one time.
func most(all []history.Contender) (most int) {
	for _, a := range all {
		together := 0
		for _, b := range all {
			if a.LetIn.Zxid != 0 && b.LetIn.Zxid != 0 && b.LetIn.Zxid <= a.LetIn.Zxid && (b.Ended.Zxid == 0 || a.LetIn.Zxid < b.Ended.Zxid) {
				together++
			}
		}
		most = max(most, together)
	}
	return most
}
