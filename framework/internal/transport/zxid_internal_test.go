package transport

import (
	"errors"
	"math"
	"testing"
)

// Each step is the zxid of one answer, and then what handshakes of this and of later sessions say.
func TestAZxidIsBelievedOnlyIfItCanBe(t *testing.T) {
	type step struct {
		zxid            int64
		newest, certain int64
		garbage         bool
	}
	for name, steps := range map[string][]step{
		"growing":               {{5, 5, 0, false}, {6, 6, 5, false}, {6, 6, 6, false}, {9, 9, 6, false}},
		"none":                  {{5, 5, 0, false}, {0, 5, 0, false}, {-1, 5, 0, false}, {6, 6, 5, false}},
		"an election":           {{5, 5, 0, false}, {1<<32 | 1, 1<<32 | 1, 5, false}, {1<<32 | 2, 1<<32 | 2, 1<<32 | 1, false}},
		"backward":              {{5, 5, 0, false}, {6, 6, 5, false}, {4, 0, 0, true}},
		"one that is too high":  {{5, 5, 0, false}, {1000, 1000, 5, false}, {6, 0, 0, true}},
		"too high, repeated":    {{5, 5, 0, false}, {1000, 1000, 5, false}, {1000, 1000, 1000, false}, {6, 0, 0, true}},
		"negative":              {{5, 5, 0, false}, {6, 6, 5, false}, {-2, 0, 0, true}},
		"most negative":         {{5, 5, 0, false}, {math.MinInt64, 0, 0, true}},
		"highest":               {{5, 5, 0, false}, {7, 7, 5, false}, {math.MaxInt64, 0, 0, true}},
		"highest at first":      {{math.MaxInt64, 0, 0, true}},
		"too many elections":    {{5, 5, 0, false}, {6, 6, 5, false}, {(maxElections + 1) << 32, 0, 0, true}},
		"many elections":        {{5, 5, 0, false}, {maxElections << 32, maxElections << 32, 5, false}},
		"the highest, repeated": {{math.MaxInt64, 0, 0, true}, {math.MaxInt64, 0, 0, true}},
	} {
		var h history
		var last int64
		for i, s := range steps {
			var err error
			if last, err = h.saw(s.zxid, last); err != nil {
				h.doubt(progress{}) // as the end of the connection does
			}
			if errors.Is(err, errGarbage) != s.garbage || h.newest() != s.newest || h.certain() != s.certain {
				t.Errorf("%s, answer %d: %v, newest %#x, certain %#x, want %+v", name, i, err, h.newest(), h.certain(), s)
			}
		}
	}
}

func TestAClaimIsGivenUpWhenServersRefuseItAgainAndAgain(t *testing.T) {
	h := history{progress: progress{proven: 5}}
	if _, err := h.saw(1000, 5); err != nil {
		t.Fatal(err)
	}
	for range claimRefusals - 1 {
		h.refused()
	}
	h.taken() // by a server that has come so far
	for i := range claimRefusals {
		if h.newest() != 1000 {
			t.Fatalf("given up after %d refusals", i)
		}
		if got, want := h.refused(), i == claimRefusals-1; got != want {
			t.Errorf("refusal %d gives the claim up: got %v, want %v", i+1, got, want)
		}
	}
	if h.newest() != 5 {
		t.Errorf("%d is still believed", h.newest())
	}
	for range 10 * claimRefusals {
		if h.refused() {
			t.Error("a refusal gave up what is certain")
		}
	}
	if h.newest() != 5 {
		t.Errorf("got newest zxid %d, want 5, which is certain", h.newest())
	}
}

func TestGarbageTakesBackOnlyWhatItsOwnConnectionHasTold(t *testing.T) {
	var h history
	if _, err := h.saw(1000, 0); err != nil { // a connection's only answer: a claim
		t.Fatal(err)
	}
	before := h.taken()
	last, err := h.saw(2000, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.saw(2001, last); err != nil || h.certain() != 2000 {
		t.Fatalf("got %v, certain %d, want 2000", err, h.certain())
	}
	for i, want := range []bool{true, false} {
		if got := h.doubt(before); got != want || h.newest() != 1000 || h.certain() != 0 {
			t.Errorf("doubt %d gives something up: got %v, want %v; newest %d, certain %d, want 1000 and 0",
				i+1, got, want, h.newest(), h.certain())
		}
	}
}

// A claim is too high. One server refuses it, another takes every handshake and garbles: that does not keep it alive.
func TestAClaimIsGivenUpWhileAnotherServerGarbles(t *testing.T) {
	var h history
	if _, err := h.saw(1000, 0); err != nil {
		t.Fatal(err)
	}
	for i := range claimRefusals {
		if h.doubt(h.taken()) {
			t.Error("a connection without answers gave something up")
		}
		if got, want := h.refused(), i == claimRefusals-1; got != want {
			t.Errorf("refusal %d gives the claim up: got %v, want %v", i+1, got, want)
		}
	}
}
