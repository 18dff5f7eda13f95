package lead_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A promises is a judge: while a yes of one participant holds, no other one says yes.
type promises struct {
	holder  string
	until   time.Time
	changes int
}

func (j *promises) hear(t *testing.T, a lead.Answer) {
	t.Helper()
	if a.Name == a.Me && !a.Leading {
		t.Errorf("got %+v: it names itself, and does not lead", a)
	}
	if !a.Leading {
		return
	}
	now := time.Now()
	if j.holder != a.Me {
		if now.Before(j.until) {
			t.Errorf("%s says yes %v before the promise of %s has run out", a.Me, j.until.Sub(now), j.holder)
		}
		j.holder = a.Me
		j.changes++
	}
	j.until = now.Add(time.Duration(a.ValidFor) * time.Millisecond)
}

// Cables are cut, swallow and heal, servers freeze, leaders are asked to leave, and processes end and start.
func TestPromisesOfTwoParticipantsNeverOverlap(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) { storm(t, rand.New(rand.NewPCG(seed, 0))) })
		})
	}
}

func storm(t *testing.T, random *rand.Rand) {
	server := zktest.New(t)
	judge := &promises{}
	all := make([]*participant, 3)
	for i := range all {
		all[i] = stand(t, server, fmt.Sprint("p", i), true)
	}
	for range 400 { // faults
		at := random.IntN(len(all))
		p := all[at]
		switch random.IntN(16) {
		case 0:
			p.link.Mute()
		case 1:
			p.link.Cut()
		case 2:
			p.link.Reset()
		case 3:
			server.Freeze()
		case 4: // TERM; another process takes its place
			p.stop(errors.New("TERM"))
			for ended := false; !ended; {
				select {
				case <-p.ended:
					ended = true
				case <-time.After(50 * time.Millisecond):
					ask(t, judge, all, random)
				}
			}
			_ = p.client.Close()
			all[at] = stand(t, server, fmt.Sprintf("%s'", p.Answer().Me), true)
		case 5, 6:
			if a := p.Answer(); a.Leading {
				if present, err := leader.NewLeaderSelector(p.client, path).Leader(t.Context()); err == nil {
					_ = locks.AttemptRevoke(t.Context(), p.client, present.Path) // it may be cut off
				}
			}
		default:
			p.link.Heal()
		}
		for range random.IntN(100) {
			time.Sleep(50 * time.Millisecond)
			ask(t, judge, all, random)
		}
		server.Unfreeze()
	}
	if judge.changes < 20 {
		t.Errorf("got %d changes of the leader, want at least 20: this has tested little", judge.changes)
	}
	for _, p := range all {
		p.link.Heal()
	}
	time.Sleep(2 * sessionTimeout) // sessions end whose clients ended while they were cut off
}

// ask asks some of the participants.
func ask(t *testing.T, judge *promises, all []*participant, random *rand.Rand) {
	t.Helper()
	for _, p := range all {
		if random.IntN(3) > 0 {
			judge.hear(t, p.Answer())
		}
	}
}
