package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/internal/lanes"
	"github.com/gocurator/curator/framework/zktest"
)

func TestWorkersQueueAndALossComesBeforeTheNextHold(t *testing.T) {
	drawn := filepath.Join(t.TempDir(), "drawn.svg")
	for flags, want := range map[string]string{
		"-rounds=2 -crash=3 -picture=" + drawn:    "worker 3: HOLDS|worker 3: connection SUSPENDED|worker 3: LOST|: HOLDS|19 holds. No two overlapped.",
		"-workers=0 -rounds=0 -hold=-1s -crash=1": "-workers 0|-rounds 0|-hold -1s|-crash 1",
		"-hold=1h":                     "HOLDS|context deadline exceeded",
		"-hold=9s -crash=1 -workers=1": "worker 1: connection SUSPENDED|context deadline exceeded", // cut off, and not lost yet
	} {
		*workers, *rounds, *hold, *crash, *picture = 10, 1, 300*time.Millisecond, 0, ""
		_ = flag.CommandLine.Parse(strings.Fields(flags))
		zktest.Bubble(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 9500*time.Millisecond)
			defer cancel()
			output, err := demo.Output(ctx, play)
			demo.InOrder(t, fmt.Sprint(output, err), strings.Split(want, "|")...)
		})
	}
	for _, file := range []string{drawn, "contention.svg"} {
		picture, _ := os.ReadFile(file)
		var held [][2]float64
		loss, y, colour := [2]float64{}, 0, ""
		for line := range strings.Lines(string(picture)) {
			var at [2]float64
			n, _ := fmt.Sscanf(line, `<rect x="%f" y="%d" width="%f" height="14" fill=%q`, &at[0], &y, &at[1], &colour)
			if at[1] += at[0]; n == 4 && colour == paint[lanes.Gone] {
				loss = at
			} else if n == 4 {
				held = append(held, at)
			}
		}
		slices.SortFunc(held, func(a, b [2]float64) int { return int(10 * (a[0] - b[0])) })
		for i := range held[1:] {
			if held[i][1] > held[i+1][0]+0.11 {
				t.Errorf("%s: got holders in %v and %v", file, held[i], held[i+1])
			}
		}
		if len(held) == 0 || loss[0] == 0 || held[len(held)-1][0] < loss[0] { // worker 3 may come last, then it has to be drawn again
			t.Errorf("%s: got the last holder of %v before a loss in %v", file, held, loss)
		}
	}
}

func TestCheckFindsWhatMustNotBe(t *testing.T) {
	at := func(second int) time.Time { return time.Unix(int64(second), 0) }
	for want, next := range map[string]turn{
		"OVERLAP of 1s": {2, 2, at(1), at(3)}, "OUT OF TURN": {2, 0, at(2), at(3)}, "nil": {2, 2, at(2), at(3)},
	} {
		if got := (&record{turns: []turn{next, {1, 1, at(0), at(2)}}}).check(); !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("got %v, want %s", got, want)
		}
	}
}
