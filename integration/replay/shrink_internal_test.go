package main

import (
	"errors"
	"slices"
	"testing"
)

func TestShrinkKeepsWhatIsNeeded(t *testing.T) {
	list := make([]int, 50)
	for i := range list {
		list[i] = i
	}
	for _, needed := range [][]int{{}, {0}, {49}, {7, 31}, {0, 24, 25, 49}, {3, 4, 5, 6, 7}, list} {
		tries := 0
		got, err := shrink(list, func(part []int) (bool, error) {
			tries++
			for _, n := range needed {
				if !slices.Contains(part, n) {
					return false, nil
				}
			}
			return true, nil
		})
		if err != nil || !slices.Equal(got, needed) {
			t.Errorf("got %v, %v; want %v", got, err, needed)
		}
		if most := 150; tries > most {
			t.Errorf("%v: got %d tries, want at most %d", needed, tries, most)
		}
	}
}

// Of two faults that would each be enough one stays: the result fails, and nothing in it can be dropped.
func TestShrinkKeepsOneOfTwoThatSuffice(t *testing.T) {
	got, err := shrink([]int{1, 2, 3, 4, 5}, func(part []int) (bool, error) {
		return slices.Contains(part, 2) || slices.Contains(part, 4), nil
	})
	if err != nil || !slices.Equal(got, []int{4}) {
		t.Errorf("got %v, %v; want 4", got, err)
	}
}

func TestShrinkReturnsWhatItHasWhenTheTimeIsUp(t *testing.T) {
	up, tries := errors.New("up"), 0
	got, err := shrink([]int{1, 2, 3, 4}, func(part []int) (bool, error) {
		if tries++; tries == 2 {
			return false, up
		}
		return slices.Contains(part, 4), nil
	})
	if !errors.Is(err, up) || !slices.Equal(got, []int{3, 4}) {
		t.Errorf("got %v, %v; want 3 and 4, and the error", got, err)
	}
}
