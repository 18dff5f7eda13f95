package stats_test

import (
	"math"
	"testing"

	"github.com/gocurator/curator/integration/bench/stats"
)

func TestQuantile(t *testing.T) {
	hundred := make([]float64, 100)
	for i := range hundred {
		hundred[i] = float64(100 - i)
	}
	for _, test := range []struct{ q, want float64 }{{0, 1}, {0.5, 50}, {0.99, 99}, {1, 100}} {
		if got := stats.Quantile(hundred, test.q); got != test.want {
			t.Errorf("the quantile %v of 1..100 is %v, want %v", test.q, got, test.want)
		}
	}
	if hundred[0] != 100 {
		t.Error("the values were sorted in place")
	}
	if got := stats.Quantile(nil, 0.5); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestMedian(t *testing.T) {
	if got := stats.Median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
	if got := stats.Median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("got %v, want 2.5", got)
	}
}

func TestSpreadLeavesOutWhatIsMissing(t *testing.T) {
	if got := stats.Over([]float64{math.NaN(), 3, 1, 2}); got != (stats.Spread{Median: 2, Min: 1, Max: 3}) {
		t.Errorf("got %+v", got)
	}
	if got := stats.Over([]float64{math.NaN()}); !math.IsNaN(got.Median) {
		t.Errorf("got %+v of nothing", got)
	}
}
