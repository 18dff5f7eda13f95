package model

import (
	"cmp"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

var states = flag.Int("states", 0, "explore at most so many states of each configuration; 0 means the test's own limit")

// A scene is a world, and what does not hold in it.
type scene struct {
	off  Off
	c    Config
	from string // the steps before what is explored, each a line
	want error  // nil: safety does not need what is off, as doc.go says
}

var (
	two      = [][]Kind{{Mutex}, {Mutex}}
	switches = map[string]scene{
		"rule 1": {off: Rule1, c: Config{Clients: two, Faults: Faults{Lapses: 1}}, want: ErrExclusion},
		"rule 2": {off: Rule2, c: Config{Clients: two, Faults: Faults{Hands: 1}}, want: ErrOrder},
		"rule 3": {
			off: Rule3, c: Config{Clients: [][]Kind{{Plain}, {Mutex}}, Steady: 1, Faults: Faults{Hands: 1, Cuts: 1}}, want: ErrOrder,
		},
		"rule 4":             {off: Rule4, c: Config{Clients: two, Faults: Faults{Hands: 1}}, want: ErrUnheard},
		"rule 5":             {off: Rule5, c: Config{Clients: two, Faults: Faults{Cuts: 1}}, want: explore.ErrStuck},
		"rule 5, read again": {off: Rule5Again | S7, c: Config{Clients: two, Faults: Faults{Unsent: 1}}, want: explore.ErrStuck},
		"rule 6":             {off: Rule6, c: Config{Clients: two, Faults: Faults{Cuts: 1}}, want: explore.ErrStuck},
		"rule 6, listings":   {off: Rule6Listing, c: Config{Clients: [][]Kind{{Writer, Heir, Writer}}}, want: ErrOrder},
		"rule 7": {
			off: Rule7, c: Config{Clients: [][]Kind{{Plain}, {Mutex, Mutex}}, Faults: Faults{GiveUps: 1}}, want: explore.ErrStuck,
		},
		"S0": {off: S0, c: Config{Clients: two, Faults: Faults{Unstored: 1}}, want: ErrExclusion},
		"S1": {off: S1, c: Config{Clients: two, Faults: Faults{Hands: 1}}, want: ErrOrder},
		"S2": {off: S2, c: Config{Clients: [][]Kind{{Mutex}, {Mutex}, {Mutex}}}, want: ErrExclusion},
		"S3": {off: S3, c: Config{Clients: two, Again: 2, Unlisted: true}},
		"S4": {
			off: S4, c: Config{Clients: [][]Kind{{Writer, Heir}, {Writer}}, Two: true, Steady: 1, Faults: Faults{Cuts: 1}},
			from: aBecomesAReaderAndCWaits, want: ErrOrder,
		},
		"S5": {off: S5, c: Config{Clients: two, Steady: 1, Faults: Faults{Cuts: 1, Lates: 1}}, want: explore.ErrStuck},
		"S6": {
			off: S6, c: Config{Clients: [][]Kind{{Mutex}, {Mutex, Mutex}}, Again: 2, Unlisted: true, Faults: Faults{Sweeps: 1}},
			from: aHasHadTheDirectoryToItself, want: ErrOrder,
		},
		"S7":                   {off: S7, c: Config{Clients: two, Faults: Faults{Unsent: 1, Hands: 1}}, want: ErrOrder},
		"end of the counter":   {off: CounterEnd, c: Config{Clients: two, Start: 1<<31 - 1}, want: ErrExclusion},
		"the lease ends first": {off: LeaseFirst, c: Config{Clients: two, Faults: Faults{Lapses: 1}}, want: ErrExclusion},
		"a name for each try":  {off: NewName, c: Config{Clients: two, Faults: Faults{Cuts: 1, Lates: 1}}, want: explore.ErrStuck},
		"looks":                {off: Looks, c: Config{Clients: two, Faults: Faults{Cuts: 1, Lates: 1}}, want: explore.ErrStuck},
		"the listed directory": {
			off: Czxid,
			c: Config{
				Clients: [][]Kind{{Mutex}, {Mutex, Mutex}}, Again: 2, Unlisted: true, Faults: Faults{Cuts: 1, Sweeps: 1},
			},
			from: aReturnsAndBHasMadeTheDirectory, want: ErrOrder,
		},
		"the limit in order": {
			off: LimitInOrder, c: Config{Clients: [][]Kind{{Gate, Lease}, {Gate, Lease}}, Limit: 2, Raised: 1}, want: ErrOrder,
		},
	}
)

// replay takes steps by their names.
func replay(t *testing.T, m explore.Model[*world], steps string) *world {
	t.Helper()
	at := m.Start
	for want := range strings.SplitSeq(steps, "\n") {
		want = strings.TrimSpace(want)
		if want == "" {
			continue
		}
		var next *world
		var all []string
		m.Steps(at, func(name string, to *world) {
			all = append(all, name)
			if name == want {
				next = to
			}
		})
		if next == nil {
			t.Fatalf("there is no step %q, only %q", want, all)
		}
		at = next
	}
	return at
}

func TestWithoutARuleOrAnAssumptionTheModelFails(t *testing.T) {
	for name, s := range switches {
		t.Run(name, func(t *testing.T) {
			for _, off := range []Off{s.off, 0} {
				c := s.c
				c.Off = off
				m := New(c)
				m.Start = replay(t, m, s.from)
				m.Limit = cmp.Or(*states, 300_000) // a failure is found before
				if off == 0 {
					m.Limit = cmp.Or(*states, limit)
				}
				result, err := m.Explore()
				t.Logf("off %b: %v", off, result)
				want := s.want
				if off == 0 {
					want = nil
				}
				if !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("got %v, want %v", err, want)
				} else if err != nil {
					t.Log(err)
				}
			}
		})
	}
}
