// Package stats makes figures of what workers wrote down.
package stats

import (
	"math"
	"slices"
)

// Quantile returns the value below which a share q of the values lies, the nearest rank; NaN of none.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// Median returns the middle of the values, or of the two in the middle; NaN of none.
func Median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// A Spread is the median of a figure over rounds, and its extremes.
type Spread struct{ Median, Min, Max float64 }

// Over returns the spread of the values that are numbers.
func Over(values []float64) Spread {
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(values) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	return Spread{Median(values), slices.Min(values), slices.Max(values)}
}
