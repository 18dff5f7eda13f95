package transport

import (
	"io"
	"log/slog"
	"testing"
)

// A watch of a tree is not done without for connections that end on it: the server is asked again in a question, and
// if it takes the watch there and hangs up on it here, the request fails as a needed one does.
func TestAConnectionThatEndsOnATreeHasTheServerAskedAgain(t *testing.T) {
	s := NewSupport(slog.New(slog.DiscardHandler))
	s.attached("a:2181")
	want := func(what string, has, lacks bool) {
		t.Helper()
		if gotHas, gotLacks := s.Has(FeatureTreeWatches), s.Lacks(FeatureTreeWatches); gotHas != has || gotLacks != lacks {
			t.Errorf("%s: got has %t, lacks %t, want %t, %t", what, gotHas, gotLacks, has, lacks)
		}
	}
	want("at first", false, false)
	for n := 1; n <= hangUpsToFail; n++ {
		s.askedForTrees("a:2181", nil)
		want("it has answered a question", true, false)
		err := s.ended(ending{server: "a:2181", reason: io.EOF, prompt: true, answered: true, waiting: []int32{opAddWatch}})
		want("it has hung up", false, false)
		if (err != nil) != (n == hangUpsToFail) {
			t.Errorf("got %v after %d hang-ups, want the request to fail after %d", err, n, hangUpsToFail)
		}
	}
	s.askedForTrees("a:2181", nil)
	s.ended(ending{server: "a:2181", reason: io.EOF, prompt: true, answered: true, waiting: []int32{opGetData, opAddWatch}})
	want("it has hung up on what was asked before", false, false)
	s.askedForTrees("a:2181", nil)
	s.ended(ending{server: "a:2181", reason: errSilent, prompt: true, answered: true, waiting: []int32{opAddWatch}})
	want("the network has ended the connection", true, false)
}

// That one server lacks them says nothing about another: to ask costs no connection.
func TestEachServerIsJudgedByItselfForTrees(t *testing.T) {
	s := NewSupport(slog.New(slog.DiscardHandler))
	s.askedForTrees("a:2181", io.EOF)
	s.askedForTrees("c:2181", nil)
	for server, want := range map[string][2]bool{"a:2181": {false, true}, "b:2181": {}, "c:2181": {true, false}} {
		s.attached(server)
		if got := [2]bool{s.Has(FeatureTreeWatches), s.Lacks(FeatureTreeWatches)}; got != want {
			t.Errorf("%s: got has, lacks %v, want %v", server, got, want)
		}
	}
	other := NewSupport(slog.New(slog.DiscardHandler))
	other.askedForTrees("a:2181", io.EOF)
	if other.attached("b:2181"); other.Lacks(FeatureTreeWatches) {
		t.Error("got a server that was not asked taken for one that lacks them")
	}
}
