package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gocurator/curator/integration/bench/stats"
)

func TestIntervalOfRatios(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		ratios []float64
		want   stats.Interval
	}{
		"none":              {nil, stats.Interval{Mean: nan, Low: nan, High: nan}},
		"one":               {[]float64{2}, stats.Interval{Mean: 2, Low: nan, High: nan, N: 1}},
		"all the same":      {[]float64{1.5, 1.5, 1.5}, stats.Interval{Mean: 1.5, Low: 1.5, High: 1.5, N: 3}},
		"twice and half":    {[]float64{2, 0.5}, stats.Interval{Mean: 1, Low: math.Exp(-12.706 * math.Ln2), High: math.Exp(12.706 * math.Ln2), N: 2}},
		"what is no number": {[]float64{nan, 0, -1, math.Inf(1), 3, 3}, stats.Interval{Mean: 3, Low: 3, High: 3, N: 2}},
	} {
		got := stats.OfRatios(c.ratios)
		if !same(got.Mean, c.want.Mean) || !same(got.Low, c.want.Low) || !same(got.High, c.want.High) || got.N != c.want.N {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
	}
}

func same(a, b float64) bool {
	return math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*math.Abs(b)
}

// Of intervals with 95 % confidence, about one in twenty misses the truth.
func TestIntervalHoldsTheTruthNineteenTimesInTwenty(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{2, 10, 40} {
		const trials, truth = 4000, 0.97
		missed := 0
		for range trials {
			ratios := make([]float64, n)
			for i := range ratios {
				ratios[i] = truth * math.Exp(0.1*random.NormFloat64())
			}
			if got := stats.OfRatios(ratios); got.Low > truth || got.High < truth {
				missed++
			}
		}
		if share := float64(missed) / trials; share < 0.035 || share > 0.065 {
			t.Errorf("%d ratios: %.1f %% of the intervals miss the truth, want 5 %%", n, 100*share)
		}
	}
}
