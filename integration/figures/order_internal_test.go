package main

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func randomGraph(random *rand.Rand, files, uses int) graph {
	g := make(graph, files)
	for i := range g {
		g[i] = make([]bool, files)
	}
	for range uses {
		if from, to := random.IntN(files), random.IntN(files); from != to {
			g[from][to] = true
		}
	}
	return g
}

// fewestUp tries all orders.
func (g graph) fewestUp(order []int, rest []int) int {
	if len(rest) == 0 {
		return g.up(order)
	}
	fewest := len(g) * len(g)
	for i, file := range rest {
		others := slices.Delete(slices.Clone(rest), i, i+1)
		fewest = min(fewest, g.fewestUp(append(slices.Clone(order), file), others))
	}
	return fewest
}

func (g graph) upInOrder() int {
	bottomUp := make([]int, len(g))
	for file, place := range g.order() {
		bottomUp[place] = file
	}
	return g.up(bottomUp)
}

func TestTheOrderHasTheFewestUsesThatPointUp(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		g := randomGraph(random, 6, random.IntN(16))
		all := []int{0, 1, 2, 3, 4, 5}
		if got, want := g.upInOrder(), g.fewestUp(nil, all); got != want {
			t.Fatalf("seed %d: got %d uses that point up, want %d", seed, got, want)
		}
	}
}

// What is too large for all orders is ordered nearly as well.
func TestLargeCirclesAreOrdered(t *testing.T) {
	const files = mostExact + 8
	ring := make(graph, files)
	for i := range ring {
		ring[i] = make([]bool, files)
		ring[i][(i+1)%files] = true
	}
	if got := ring.upInOrder(); got != 1 {
		t.Errorf("got %d uses that point up in a ring, want 1", got)
	}
	random := rand.New(rand.NewPCG(1, 0))
	g := randomGraph(random, mostExact, 60)
	all := make([]int, mostExact)
	for i := range all {
		all[i] = i
	}
	exact, moved := g.up(g.within(all)), g.up(g.improve(all))
	if moved < exact || moved > exact+exact/4+1 {
		t.Errorf("got %d uses that point up by moving files, want about the fewest, %d", moved, exact)
	}
}
