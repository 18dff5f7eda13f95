package plot

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// linear marks a linear axis where the library would, in numbers as people write them.
var linear = plot.TickerFunc(func(least, most float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(least, most)
	for i, tick := range ticks {
		if tick.Label != "" {
			value, err := strconv.ParseFloat(tick.Label, 64) // the label is rounded, the value is not
			if err == nil {
				ticks[i].Label = number(value)
			}
		}
	}
	return ticks
})

// logarithmic marks 1, 2, 3 … 9 of every decade, and labels the 1; where there are few decades, the 2 and the 5 as
// well.
var logarithmic = plot.TickerFunc(func(least, most float64) []plot.Tick {
	few := most/least < 200
	var ticks []plot.Tick
	for decade := math.Floor(math.Log10(least)); decade <= math.Log10(most); decade++ {
		for digit := 1.; digit < 10; digit++ {
			tick := plot.Tick{Value: digit * math.Pow(10, decade)}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				tick.Label = number(tick.Value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
})

// logarithmicRange widens a range until there is a 1, 2 or 5 at both ends.
func logarithmicRange(least, most float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, digit := range []float64{1, 2, 5} {
		low = max(low, digit*math.Pow(10, math.Floor(math.Log10(least/digit))))
		high = min(high, digit*math.Pow(10, math.Ceil(math.Log10(most/digit))))
	}
	return low, high
}

// number writes 12345.5 as 12,345.5.
func number(v float64) string {
	digits := strconv.FormatFloat(math.Abs(v), 'g', 12, 64)
	if math.Abs(v) >= 1e-4 && math.Abs(v) < 1e12 {
		digits = strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0 && !strings.Contains(whole, "e"); i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	if v < 0 {
		return "-" + whole
	}
	return whole
}
