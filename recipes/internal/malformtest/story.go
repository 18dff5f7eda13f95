package malformtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
)

// A Story is one use of a client. [Story.Play] plays it again and again, each time with one malformation.
type Story struct {
	Server []zktest.Option    // the server's options
	Client []framework.Option // options of the client whose frames are spoiled
	// Setup prepares the server, if it is not nil. The client is connected afterwards.
	Setup func(r *Run)
	Parts []Part
	// Whole says that variants are played, too. One story plays them for all: the client checks a number in one place,
	// whatever it has asked for.
	Whole bool
	// Recover does once more, on a server in order, what the story is about, and leaves nothing behind. An error that
	// session.Outage knows has it called again. A part's Live can replace it by [Run.RecoverBy].
	Recover func(ctx context.Context, r *Run) error
	// Left says what is left after the end of all clients, "" if nothing is. nil stands for nothing.
	Left func(r *Run) string
}

// A Part is a part of a story, with the kinds of frames that are spoiled in it.
type Part struct {
	Name  string
	Kinds []string
	Skip  int  // frames of the kind that come as they are, first
	All   bool // all frames of the kind are spoiled for [SpoilTime], and not just one
	Early bool // frames are spoiled from the first connection on; Live does not call Arm
	// Client has options of this part alone.
	Client []framework.Option
	// Only restricts the malformations to those that it admits, if it is not nil.
	Only func(m Malformation) bool
	// Live plays the part, and calls [Run.Arm] where spoiling begins. The client may fail. [Run.Bad] and [Run.Bounded]
	// report the harm that it does.
	Live func(r *Run)
}

// ForLong returns parts, and each of them once more with all frames of a kind spoiled. A client that repeats what fails
// in a hot loop shows that only there. Of malformations that it refuses alike, a few are enough for that.
func ForLong(parts ...Part) []Part {
	all := slices.Clone(parts)
	for _, part := range parts {
		only := part.Only
		part.Only = func(m Malformation) bool { return !m.Number && (only == nil || only(m)) }
		part.Name, part.All = part.Name+" for long", true
		all = append(all, part)
	}
	return all
}

// What must never come of a frame, whatever stands in it. A panic on a goroutine of the library ends the test itself.
const (
	OutcomeHang   = "hang past a context"
	OutcomeGrant  = "grant beside a holder"
	OutcomeFalse  = "false report"
	OutcomeHot    = "hot loop"
	OutcomeLocked = "lock-out"
	OutcomeLeak   = "leak"
	OutcomePanic  = "panic"
)

// outcomes are the harms, in the order of reports.
var outcomes = []string{OutcomePanic, OutcomeLocked, OutcomeHot, OutcomeHang, OutcomeGrant, OutcomeFalse, OutcomeLeak}

// Play spoils one frame after the other and fails t, by part, kind and malformation, for each harm. It logs the counts
// by outcome. A sample is a fifth of the malformations of each kind in each part.
func (s *Story) Play(t *testing.T) {
	t.Helper()
	sample, counts, inputs := sampletest.New(t), map[string]int{}, 0
	for _, part := range s.Parts {
		for _, kind := range part.Kinds {
			struck := 0
			all := s.malformations(part, kind)
			for _, i := range sample.Part(len(all), fifth) {
				m := all[i]
				name := fmt.Sprintf("%s, %s %s", part.Name, kind, m.Name)
				r := &Run{story: s, part: part, kind: kind, malformation: m, spoil: m.Spoil()}
				r.inBubble(t, name)
				if r.struck == 0 {
					continue
				}
				struck++
				for outcome, why := range r.bad {
					counts[outcome]++
					t.Errorf("%s: %s: %s", name, outcome, why)
				}
			}
			if struck == 0 && (sample.All() || len(all) >= fifth) {
				t.Errorf("%s: got no %s to spoil, want one at least", part.Name, kind)
			}
			inputs += struck
		}
	}
	text := []string{fmt.Sprintf("%d malformed inputs", inputs)}
	for _, outcome := range outcomes {
		text = append(text, fmt.Sprintf("%s: %d", outcome, counts[outcome]))
	}
	t.Log(strings.Join(text, ", "))
}

// fifth is one of how many malformations a sample has.
const fifth = 5

// malformations are those of a kind of frames that a part of the story is about.
func (s *Story) malformations(part Part, kind string) []Malformation {
	return slices.DeleteFunc(Malformations(kind), func(m Malformation) bool {
		return m.Variant && !s.Whole || part.Only != nil && !part.Only(m)
	})
}

// PlayChange plays a part with frames that a change spoils, and returns the harms with their reasons.
func (s *Story) PlayChange(t *testing.T, part Part, c Change) map[string]string {
	t.Helper()
	r := &Run{story: s, part: part, change: c}
	r.inBubble(t, part.Name)
	return r.bad
}
