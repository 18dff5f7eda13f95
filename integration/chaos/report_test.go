//go:build linux

package chaos_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"
)

// A report is what all rounds came to.
type report struct {
	Seed         uint64                    `json:"seed"`
	Seconds      float64                   `json:"seconds"`
	Rounds       int                       `json:"rounds"`
	Windows      int                       `json:"windows"`
	Acquisitions map[string]map[string]int `json:"acquisitions"` // by kind and language
	Failed       map[string]int            `json:"failed"`       // acquires and releases that had an error, by language
	Faults       map[string]int            `json:"faults"`
	LeftOut      []string                  `json:"leftOut"`
	Quiet        times                     `json:"handOverQuiet"`
	Fire         times                     `json:"handOverUnderFire"`
	Service      times                     `json:"timeToService"`
	Helped       int                       `json:"windowsThatNeededHelp"` // they are not in Service
	Restarts     map[string]int            `json:"restartsToHelp"`        // by language, or of servers
	Lost         int                       `json:"leasesLost"`
	Unknown      int                       `json:"leasesLostWithoutARemoval"`
	Margin       times                     `json:"knewFirstBy"`
	Writes       map[string]int            `json:"writes"`
	LateWrites   int                       `json:"lateWritesOfLostLeases"`
	Proven       map[string]int            `json:"provenHolds"`
	Overlaps     int                       `json:"overlaps"`
	Residue      int                       `json:"residue"`
	CacheEvents  int                       `json:"cacheEvents"`
	Steps        int                       `json:"journalSteps"`
	Transactions int                       `json:"transactions"`
}

func newReport(seed uint64) *report {
	return &report{
		Seed: seed, Acquisitions: map[string]map[string]int{}, Failed: map[string]int{}, Faults: map[string]int{},
		Writes: map[string]int{}, Proven: map[string]int{}, Restarts: map[string]int{},
	}
}

func (r *report) leaveOut(what string, err error) {
	if note := fmt.Sprintf("%s: %v", what, err); !slices.Contains(r.LeftOut, note) {
		r.LeftOut = append(r.LeftOut, note)
	}
}

func (r *report) lost(margin time.Duration, known bool) {
	r.Lost++
	if known {
		r.Margin = append(r.Margin, margin)
	} else {
		r.Unknown++
	}
}

// add adds a round.
func (r *report) add(one *run, l *ledger) {
	r.Rounds++
	r.Windows += len(one.episodes)
	for _, h := range one.history.closed {
		kind := kindOf(h.path)
		if r.Acquisitions[kind] == nil {
			r.Acquisitions[kind] = map[string]int{}
		}
		r.Acquisitions[kind][h.language]++
	}
	for _, e := range one.episodes {
		if e.Helped {
			r.Helped++
		} else {
			r.Service = append(r.Service, time.Duration(e.Serving-e.Healed))
		}
	}
	for what, n := range one.history.writes {
		r.Writes[what] += n
	}
	for language, n := range one.history.failed {
		r.Failed[language] += n
	}
	for dir, proofs := range l.proofs {
		r.Proven[kindOf(dir)] += len(proofs)
	}
	r.addHandOvers(one, l)
}

func kindOf(dir string) string { return path.Base(strings.TrimSuffix(dir, "/leases")) }

// addHandOvers adds the times between a release and the next hold, whose node was there before.
func (r *report) addHandOvers(one *run, l *ledger) {
	for _, dir := range []string{withJava, withKazoo, election} {
		var last hold
		earlier := func(a, b hold) int { return cmp.Compare(a.from, b.from) }
		for _, h := range slices.SortedFunc(slices.Values(one.history.closed), earlier) {
			if h.path != dir {
				continue
			}
			waited := l.created[h.path+"/"+h.node].UnixNano()+one.clock.to < last.to
			if d := h.from - last.to; last.to != 0 && waited && d > 0 && !last.killed && !last.lost() {
				during := func(e episode) bool { return e.Begun < h.from && last.to < e.Serving }
				if slices.ContainsFunc(one.episodes, during) {
					r.Fire = append(r.Fire, time.Duration(d))
				} else {
					r.Quiet = append(r.Quiet, time.Duration(d))
				}
			}
			last = h
		}
	}
}

// times are durations, of which a report has a few numbers.
type times []time.Duration

// at returns the duration below which a part of all are.
func (t times) at(part float64) time.Duration {
	if len(t) == 0 {
		return 0
	}
	all := slices.Sorted(slices.Values(t))
	return all[min(len(all)-1, int(part*float64(len(all))))]
}

func (t times) String() string {
	round := func(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }
	return fmt.Sprintf("%d; least %v, p50 %v, p99 %v, max %v",
		len(t), round(t.at(0)), round(t.at(0.5)), round(t.at(0.99)), round(t.at(1)))
}

// MarshalJSON writes the few numbers, in milliseconds.
func (t times) MarshalJSON() ([]byte, error) {
	ms := func(part float64) float64 { return float64(t.at(part).Microseconds()) / 1000 }
	return json.Marshal(map[string]any{"n": len(t), "min": ms(0), "p50": ms(0.5), "p99": ms(0.99), "max": ms(1)})
}

// text is the report for a reader.
func (r *report) text() string {
	var b strings.Builder
	line := func(what string, of any) { fmt.Fprintf(&b, "%-34s %v\n", what, of) }
	line("seed", r.Seed)
	line("duration", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))
	line("rounds, windows of faults", fmt.Sprint(r.Rounds, ", ", r.Windows))
	for _, kind := range slices.Sorted(maps.Keys(r.Acquisitions)) {
		line("acquisitions, "+kind, counts(r.Acquisitions[kind]))
	}
	line("acquires and releases that failed", counts(r.Failed))
	line("faults", counts(r.Faults))
	for _, note := range r.LeftOut {
		line("LEFT OUT", note)
	}
	line("hand-overs in quiet times", r.Quiet)
	line("hand-overs under fire", r.Fire)
	line("time to service after healing", r.Service)
	line("the same, but only with help", fmt.Sprint(r.Helped, "; restarts: ", counts(r.Restarts)))
	line("leases lost, without a removal", fmt.Sprint(r.Lost, ", ", r.Unknown))
	line("the holder knew first by", r.Margin)
	line("writes", counts(r.Writes))
	line("late writes, of leases lost before", r.LateWrites)
	line("holds proven by the servers' log", counts(r.Proven))
	line("overlaps", r.Overlaps)
	line("residue", r.Residue)
	line("cache events, all right", r.CacheEvents)
	line("steps in journals, transactions", fmt.Sprint(r.Steps, ", ", r.Transactions))
	return b.String()
}

func counts(of map[string]int) string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s: %d", what, of[what]))
	}
	return strings.Join(parts, ", ")
}

func (r *report) write(t testing.TB, file string) {
	t.Helper()
	if file == "" {
		return
	}
	text, err := json.MarshalIndent(r, "", "\t")
	if err == nil {
		err = os.WriteFile(file, append(text, '\n'), 0o644)
	}
	if err != nil {
		t.Errorf("write the report: %v", err)
	}
}
