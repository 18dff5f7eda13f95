package main

import (
	"math/bits"
	"slices"
)

// A graph has an edge from each file to those that it uses.
type graph [][]bool

func newGraph(names []map[int]map[string]bool) graph {
	g := make(graph, len(names))
	for from := range names {
		g[from] = make([]bool, len(names))
		for to := range names[from] {
			g[from][to] = true
		}
	}
	return g
}

// order returns the place of each file, from the lowest, so that few arrows point up: none between files that are in no
// circle together; within a circle the fewest possible, or, with more than mostExact files, as few as moving one file
// at a time can reach.
func (g graph) order() []int {
	places := make([]int, len(g))
	next := 0
	for _, circle := range g.circles() {
		for _, file := range g.within(circle) {
			places[file] = next
			next++
		}
	}
	return places
}

// circles returns the sets of files that use each other in a circle, the lowest first.
func (g graph) circles() [][]int {
	reach := make(graph, len(g))
	for i := range g {
		reach[i] = slices.Clone(g[i])
		reach[i][i] = true
	}
	for via := range g {
		for i := range g {
			for j := range g {
				reach[i][j] = reach[i][j] || reach[i][via] && reach[via][j]
			}
		}
	}
	reached := func(i int) (n int) {
		for j := range g {
			if reach[i][j] {
				n++
			}
		}
		return n
	}
	var all [][]int
	seen := make([]bool, len(g))
	for i := range g {
		var circle []int
		for j := i; j < len(g) && !seen[i]; j++ {
			if reach[i][j] && reach[j][i] {
				circle = append(circle, j)
			}
		}
		if !seen[i] {
			all = append(all, circle)
		}
		for _, j := range circle {
			seen[j] = true
		}
	}
	// What reaches less lies lower: a circle reaches all that those below it reach, and itself.
	slices.SortStableFunc(all, func(a, b []int) int { return reached(a[0]) - reached(b[0]) })
	return all
}

const mostExact = 16

// within orders the files of a circle.
func (g graph) within(circle []int) []int {
	if len(circle) > mostExact {
		return g.improve(circle)
	}
	// best[set] is the least number of arrows that point up among the files of set; top[set] is the highest of them
	// then.
	n := len(circle)
	best, top := make([]int, 1<<n), make([]int, 1<<n)
	for set := 1; set < 1<<n; set++ {
		best[set] = len(g) * len(g)
		for i := range n {
			below := set &^ (1 << i)
			if below == set {
				continue
			}
			if up := best[below] + g.into(circle, below, i); up < best[set] {
				best[set], top[set] = up, i
			}
		}
	}
	var order []int
	for set := 1<<n - 1; set > 0; set &^= 1 << top[set] {
		order = append(order, circle[top[set]])
	}
	slices.Reverse(order)
	return order
}

// into counts the arrows from a set of the circle's files to its file number i.
func (g graph) into(circle []int, set, i int) (arrows int) {
	for ; set > 0; set &= set - 1 {
		if g[circle[bits.TrailingZeros(uint(set))]][circle[i]] {
			arrows++
		}
	}
	return arrows
}

// improve moves one file at a time to where the fewest arrows point up, until no move helps. It begins with the files
// that use least and are used most at the bottom.
func (g graph) improve(circle []int) []int {
	order := slices.Clone(circle)
	weight := func(file int) (n int) {
		for _, other := range circle {
			if g[file][other] {
				n++
			}
			if g[other][file] {
				n--
			}
		}
		return n
	}
	slices.SortStableFunc(order, func(a, b int) int { return weight(a) - weight(b) })
	for best := g.up(order); ; {
		improved := false
		for _, file := range circle {
			without := slices.DeleteFunc(slices.Clone(order), func(other int) bool { return other == file })
			for at := range circle {
				moved := slices.Insert(slices.Clone(without), at, file)
				if up := g.up(moved); up < best {
					order, best, improved = moved, up, true
				}
			}
		}
		if !improved {
			return order
		}
	}
}

// up counts the arrows that point up in an order.
func (g graph) up(order []int) (arrows int) {
	for i, from := range order {
		for _, to := range order[i+1:] {
			if g[from][to] {
				arrows++
			}
		}
	}
	return arrows
}
