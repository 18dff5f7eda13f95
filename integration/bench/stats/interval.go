package stats

import "math"

// An Interval is the geometric mean of ratios, and the bounds between which it lies with 95 % confidence.
type Interval struct {
	Mean, Low, High float64
	N               int // ratios that were numbers
}

// quantiles are the 0.975 quantiles of Student's distribution, by degrees of freedom from 1.
var quantiles = [...]float64{
	12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
	2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
}

// OfRatios returns the interval of ratios that were measured independently of each other, by Student's distribution of
// their logarithms: that a change makes something twice as quick or half as quick are deviations of the same size.
// Ratios that are not positive numbers are left out. With fewer than two there are no bounds, and they are NaN.
func OfRatios(ratios []float64) Interval {
	var logs []float64
	for _, ratio := range ratios {
		if ratio > 0 && !math.IsInf(ratio, 1) {
			logs = append(logs, math.Log(ratio))
		}
	}
	i := Interval{Mean: math.NaN(), Low: math.NaN(), High: math.NaN(), N: len(logs)}
	if i.N == 0 {
		return i
	}
	mean := 0.0
	for _, x := range logs {
		mean += x / float64(i.N)
	}
	i.Mean = math.Exp(mean)
	if i.N < 2 {
		return i
	}
	squares := 0.0
	for _, x := range logs {
		squares += (x - mean) * (x - mean)
	}
	// Beyond the table its last quantile, which is a little too cautious.
	quantile := quantiles[min(i.N-1, len(quantiles))-1]
	half := quantile * math.Sqrt(squares/float64(i.N-1)/float64(i.N))
	i.Low, i.High = math.Exp(mean-half), math.Exp(mean+half)
	return i
}
