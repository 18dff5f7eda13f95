//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"
)

// The servers answer after the warning, and fall silent again: the command survived one TERM, and gets another.
func TestKeeperWarnsOnceInEachOutage(t *testing.T) {
	const long = time.Hour // nothing else is due while the test runs
	var told bytes.Buffer
	k := &keeper{
		out: json.NewEncoder(&told), command: &command{}, plan: plan{grace: long, margin: long},
		family: &family{leader: math.MaxInt32}, // no process has so high a number
	}
	extend := func(left time.Duration) {
		k.obey(order{Valid: now() + left})
		k.act()
		k.act() // a second look finds nothing new
	}
	var got []int
	for range 2 {
		extend(3 * long)
		extend(2 * long)
		warnings := 0
		for lines := json.NewDecoder(&told); lines.More(); {
			var r report
			if err := lines.Decode(&r); err != nil {
				t.Fatal(err)
			}
			if !r.Warned {
				t.Errorf("got report %+v, want nothing but warnings", r)
			}
			warnings++
		}
		got = append(got, warnings)
	}
	if want := []int{1, 1}; !slices.Equal(got, want) {
		t.Errorf("got %v warnings in two outages, want %v", got, want)
	}
}
