package explore_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/gocurator/curator/framework/zktest/explore"
)

// jugs is the puzzle of two jugs, of 3 and of 5 litres.
func jugs() explore.Model[[2]int] {
	return explore.Model[[2]int]{
		Key: func(key []byte, s [2]int) []byte { return append(key, byte(s[0]), byte(s[1])) },
		Steps: func(s [2]int, step func(string, [2]int)) {
			step("fill 3", [2]int{3, s[1]})
			step("fill 5", [2]int{s[0], 5})
			step("empty 3", [2]int{0, s[1]})
			step("empty 5", [2]int{s[0], 0})
			poured := min(s[0], 5-s[1])
			step("3 to 5", [2]int{s[0] - poured, s[1] + poured})
			poured = min(s[1], 3-s[0])
			step("5 to 3", [2]int{s[0] + poured, s[1] - poured})
		},
	}
}

func TestEveryStateIsVisitedOnce(t *testing.T) {
	model, visits := jugs(), map[[2]int]int{}
	model.Check = func(s [2]int) error { visits[s]++; return nil }
	got, err := model.Explore()
	if want := (explore.Result{States: 16, Steps: 96, Depth: 7, Complete: true}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for s, n := range visits {
		if n != 1 {
			t.Errorf("got %d checks of %v, want 1", n, s)
		}
	}
}

func TestFailureHasAShortestHistory(t *testing.T) {
	model := jugs()
	four := errors.New("four litres")
	model.Check = func(s [2]int) error {
		if s[1] == 4 {
			return four
		}
		return nil
	}
	_, err := model.Explore()
	var failure *explore.Failure
	if !errors.As(err, &failure) || !errors.Is(err, four) {
		t.Fatalf("got error %v, want a Failure of %v", err, four)
	}
	want := []string{"fill 5", "5 to 3", "empty 3", "5 to 3", "fill 5", "5 to 3"}
	if !reflect.DeepEqual(failure.History, want) {
		t.Errorf("got history %q, want %q", failure.History, want)
	}
}

// trap is a walk along 0, 1, 2 …, which may be left for -1, from where nothing leads back.
func trap(last int) explore.Model[int] {
	return explore.Model[int]{
		Key: func(key []byte, s int) []byte { return fmt.Append(key, s) },
		Steps: func(s int, step func(string, int)) {
			if s >= 0 && s < last {
				step("on", s+1)
			}
			if s == 2 {
				step("leave", -1)
			}
		},
		IsEnd: func(s int) bool { return s == last },
	}
}

func TestStateWithoutAnEndIsStuck(t *testing.T) {
	_, err := trap(4).Explore()
	var failure *explore.Failure
	if !errors.As(err, &failure) || !errors.Is(err, explore.ErrStuck) {
		t.Fatalf("got error %v, want a Failure of %v", err, explore.ErrStuck)
	}
	if want := []string{"on", "on", "leave"}; !reflect.DeepEqual(failure.History, want) {
		t.Errorf("got history %q, want %q", failure.History, want)
	}
}

// From -1 a fault alone leads back.
func TestStateWhoseOnlyWayToAnEndIsAFaultIsStuck(t *testing.T) {
	for name, stuck := range map[string]bool{"repair": false, "fault": true} {
		model := trap(4)
		steps := model.Steps
		model.Steps = func(s int, step func(string, int)) {
			steps(s, step)
			if s == -1 {
				step(name, 3)
			}
		}
		model.IsFault = func(name string) bool { return name == "fault" }
		got, err := model.Explore()
		if got.Steps != 6 || errors.Is(err, explore.ErrStuck) != stuck {
			t.Errorf("%s: got %v, %v; want 6 steps, stuck %t", name, got, err, stuck)
		}
	}
}

func TestStatesAtTheLimitCountAsAbleToEnd(t *testing.T) {
	model := trap(100)
	model.Limit = 3
	got, err := model.Explore()
	if want := (explore.Result{States: 3, Steps: 2, Depth: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func ExampleModel_Explore() {
	result, err := jugs().Explore()
	fmt.Println(result, err)
	// Output: every state: 16 states, 96 steps, 0 clean ends, depth 7 <nil>
}
