// Package report makes tables, plots and a verdict of what was measured.
package report

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"time"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/stats"
)

// Results are everything about a run of the benchmark.
type Results struct {
	Conditions Conditions `json:"conditions"`
	Runs       []Run      `json:"runs"`
	Residue    []Residue  `json:"residue,omitempty"`
}

// Conditions are what figures depend on.
type Conditions struct {
	Date     time.Time         `json:"date"`
	Commit   string            `json:"commit"`  // this library's; empty if it is not known
	Changed  bool              `json:"changed"` // the working tree was not that of the commit
	Rounds   int               `json:"rounds"`
	Window   time.Duration     `json:"window"`
	Cores    int               `json:"cores"`
	CPU      string            `json:"cpu"`
	Kernel   string            `json:"kernel"`
	Versions map[string]string `json:"versions"`
	Missing  map[string]string `json:"missing"` // clients that could not be measured, and why
	Limit    float64           `json:"limit"`   // share of processor time that others may use before a run is repeated
	Idle     time.Duration     `json:"idle"`
}

// A Case is what clients are compared in.
type Case struct {
	Workload string        `json:"workload"`
	Delay    time.Duration `json:"delay"` // what the network adds, each way
	Disk     bool          `json:"disk"`  // the server's data lies on a disk, not in memory
}

// A Run is one client in one case, once.
type Run struct {
	Case

	Round   int           `json:"round"`
	Impl    string        `json:"impl"`
	Figures stats.Figures `json:"figures"`
	Failed  string        `json:"failed,omitempty"` // why there are no figures
}

// A Residue is what acquires of one client left whose contexts ended.
type Residue struct {
	Impl      string        `json:"impl"`
	Contended bool          `json:"contended"` // another client held the locks
	Found     stats.Residue `json:"found"`
	Failed    string        `json:"failed,omitempty"` // why there are no figures
}

// Load reads results.
func Load(file string) (*Results, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := new(Results)
	return r, json.Unmarshal(text, r)
}

// A Metric picks a figure.
type Metric func(stats.Figures) float64

// The metrics.
var (
	Rate        Metric = func(f stats.Figures) float64 { return f.Rate }
	CycleP50    Metric = func(f stats.Figures) float64 { return f.CycleP50 }
	CycleP99    Metric = func(f stats.Figures) float64 { return f.CycleP99 }
	HandOverP50 Metric = func(f stats.Figures) float64 { return f.HandOverP50 }
	HandOverP99 Metric = func(f stats.Figures) float64 { return f.HandOverP99 }
	Same        Metric = func(f stats.Figures) float64 { return f.Same }
	WaitP50     Metric = func(f stats.Figures) float64 { return f.WaitP50 }
	WaitP99     Metric = func(f stats.Figures) float64 { return f.WaitP99 }
	WaitMax     Metric = func(f stats.Figures) float64 { return f.WaitMax }
	Requests    Metric = func(f stats.Figures) float64 { return f.Requests }
	Events      Metric = func(f stats.Figures) float64 { return f.Events }
	Syncs       Metric = func(f stats.Figures) float64 { return f.Syncs }
	ClientCPU   Metric = func(f stats.Figures) float64 { return f.ClientCPU }
	ServerCPU   Metric = func(f stats.Figures) float64 { return f.ServerCPU }
	// Fairness is the acquisitions of the worker that had most, for each of the one that had fewest. Who got none is
	// taken to have got one.
	Fairness Metric = func(f stats.Figures) float64 { return float64(f.Most) / float64(max(1, f.Fewest)) }
)

// of returns a figure by round; NaN where there is none.
func (r *Results) of(c Case, impl string, metric Metric) []float64 {
	values := slices.Repeat([]float64{math.NaN()}, r.Conditions.Rounds)
	for _, run := range r.Runs {
		if run.Case == c && run.Impl == impl && run.Failed == "" && run.Figures.Acquisitions > 0 {
			if value := metric(run.Figures); value >= 0 {
				values[run.Round] = value
			}
		}
	}
	return values
}

// Spread returns a figure over the rounds.
func (r *Results) Spread(c Case, impl string, metric Metric) stats.Spread {
	return stats.Over(r.of(c, impl, metric))
}

// Ratio returns a client's figure divided by another client's in the same round.
func (r *Results) Ratio(c Case, impl, base string, metric Metric) stats.Spread {
	ratios := r.of(c, impl, metric)
	for round, value := range r.of(c, base, metric) {
		ratios[round] /= value
	}
	return stats.Over(ratios)
}

// Cases returns those that were measured, in the order of the plan.
func (r *Results) Cases() []Case {
	var cases []Case
	for _, run := range r.Runs {
		if !slices.Contains(cases, run.Case) {
			cases = append(cases, run.Case)
		}
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return order(a) - order(b) })
	return cases
}

// retention reports whether the case compares retained locks with others of this library alone; they have a table of
// their own.
func (c Case) retention() bool {
	w, _ := plan.Named(c.Workload)
	return w.Retention
}

// order puts delays and disks last, workloads as the plan has them.
func order(c Case) int {
	at := slices.IndexFunc(plan.Workloads, func(w plan.Workload) bool { return w.ID == c.Workload })
	if c.Disk {
		at += 100
	}
	return at + 1000*int(c.Delay.Milliseconds())
}
