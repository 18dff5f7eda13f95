package worker

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/integration/bench/stats"
)

const waiter = " waiter"

// keys are locks that are taken by writing their names down.
type keys struct {
	taken map[string]bool
	lose  func(path string) bool // an acquire whose context ends leaves its name
	asked []string
}

func (*keys) close() {}

func (k *keys) lock(_ context.Context, _, path string, _ int) (pair, error) {
	return one(func(ctx context.Context) (func(context.Context) error, error) {
		if k.lose != nil { // the client whose contexts end
			<-ctx.Done()
			k.taken[path+waiter] = k.lose(path)
			return nil, ctx.Err()
		}
		k.asked = append(k.asked, path)
		k.taken[path] = true
		return func(context.Context) error {
			delete(k.taken, path)
			return nil
		}, nil
	}), nil
}

func (k *keys) left(_ context.Context, path string) (bool, error) {
	return k.taken[path] || k.taken[path+waiter], nil
}

func TestResidueCountsTheLocksThatAreTakenAfterwards(t *testing.T) {
	for _, contended := range []bool{false, true} {
		for suffix, want := range map[string]int{"7": 2, "none": 0} { // x-7 and x-17
			patient := &keys{taken: map[string]bool{}}
			held := 0
			lose := func(path string) bool {
				if patient.taken[path] {
					held++
				}
				return strings.HasSuffix(path, suffix)
			}
			m := residues{
				impatient: &keys{taken: patient.taken, lose: lose}, patient: patient, contended: contended, usual: time.Millisecond,
			}
			if err := m.batch(t.Context(), "/x"); err != nil {
				t.Fatal(err)
			}
			if want := (stats.Residue{Ended: batch, Left: want}); m.Residue != want {
				t.Errorf("contended %t: got %+v, want %+v", contended, m.Residue, want)
			}
			if (held == batch) != contended || (held == 0) == contended {
				t.Errorf("contended %t: got %d of %d locks held while contexts ended", contended, held, batch)
			}
			if len(patient.asked) != batch || !slices.Contains(patient.asked, "/x-19") {
				t.Errorf("contended %t: got the locks %v taken before, want each", contended, patient.asked)
			}
		}
	}
}

func TestResidueThatGoesWithinASecondIsNone(t *testing.T) {
	for after, want := range map[time.Duration]int{0: 0, 900 * time.Millisecond: 0, 2 * time.Second: 1} {
		zktest.Bubble(t, func(t *testing.T) {
			begun := time.Now()
			m := residues{patient: going{begun.Add(after)}}
			got, err := m.look(t.Context(), []string{"/x"})
			if got != want || err != nil {
				t.Errorf("gone after %v: got %d left and %v, want %d", after, got, err, want)
			}
			if took := time.Since(begun); took > after+100*time.Millisecond && want == 0 || took > settle+100*time.Millisecond {
				t.Errorf("gone after %v: looked for %v", after, took)
			}
		})
	}
}

// going is a lock that is free from a time on.
type going struct{ at time.Time }

func (going) close() {}

func (going) lock(context.Context, string, string, int) (pair, error) { return pair{}, nil }

func (g going) left(context.Context, string) (bool, error) { return time.Now().Before(g.at), nil }

// Few contexts would end first of a client that is much quicker than they last.
func TestContextsEndWithinWhatAnAcquireTakes(t *testing.T) {
	for usual, want := range map[time.Duration][2]time.Duration{
		40 * time.Microsecond:  {10 * time.Microsecond, 60 * time.Microsecond},
		200 * time.Microsecond: {50 * time.Microsecond, 300 * time.Microsecond},
		9 * time.Millisecond:   {50 * time.Microsecond, 300 * time.Microsecond},
	} {
		if least, most := limits(usual); least != want[0] || most != want[1] {
			t.Errorf("%v: got %v to %v, want %v to %v", usual, least, most, want[0], want[1])
		}
	}
}
