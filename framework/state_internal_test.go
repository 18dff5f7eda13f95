package framework

import (
	"slices"
	"testing"
)

var allStates = []State{StateLatent, StateConnected, StateSuspended, StateReconnected, StateLost}

func TestStateMachine(t *testing.T) {
	for _, row := range []struct{ from, attached, detached, over State }{
		{StateLatent, StateConnected, StateLatent, StateLatent},
		{StateConnected, StateConnected, StateSuspended, StateLost},
		{StateSuspended, StateReconnected, StateSuspended, StateLost},
		{StateReconnected, StateReconnected, StateSuspended, StateLost},
		{StateLost, StateReconnected, StateLost, StateLost},
	} {
		if a, d, o := row.from.next(eventAttached), row.from.next(eventDetached), row.from.next(eventOver); a != row.attached ||
			d != row.detached || o != row.over {
			t.Errorf("from %v: attached %v, detached %v, over %v; want %v, %v, %v", row.from, a, d, o, row.attached, row.detached, row.over)
		}
		if r := row.from.next(eventRefused); r != StateLost {
			t.Errorf("from %v: refused %v, want %v", row.from, r, StateLost)
		}
	}
}

func FuzzStatesFollowTheDiagram(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 0})
	f.Fuzz(func(t *testing.T, events []byte) {
		var told []State
		state := StateLatent
		for _, b := range events {
			e := event(b % 3)
			after := state.next(e)
			if after != state {
				told = append(told, after)
			}
			if after.IsConnected() && !state.IsConnected() && e != eventAttached {
				t.Fatalf("%v became %v without an attachment", state, after)
			}
			state = after
		}
		for i, s := range told {
			if (s == StateConnected) != (i == 0) {
				t.Fatalf("got %v, want CONNECTED first, and nowhere else", told)
			}
			if i > 0 && s == told[i-1] {
				t.Fatalf("got %v, want no state twice in a row", told)
			}
			if i > 0 && s == StateSuspended && told[i-1] == StateLost {
				t.Fatalf("got %v, want no SUSPENDED after LOST", told)
			}
		}
	})
}

func TestStatesHaveCuratorsNames(t *testing.T) {
	var names []string
	for _, s := range append(allStates, 77) {
		names = append(names, s.String())
	}
	want := []string{"LATENT", "CONNECTED", "SUSPENDED", "RECONNECTED", "LOST", "State(77)"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v", names)
	}
}
