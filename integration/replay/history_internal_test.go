package main

import (
	"testing"
	"time"
)

func TestHistoryIsReadAsFarAsItGoes(t *testing.T) {
	all := sections([]byte(`{"test":"TestA/b","seed":7,"failed":false}
{"at":"1.5s","lane":"A0","text":"holds"}
{"test":"TestA/c","seed":8,"failed":true}
{"at":"2s","lane":"A","text":"cut","fault":{"kind":"cut"}}
{"at":"3s","lane":"A0","text":"wai`))
	if len(all) != 2 || len(all[0].events) != 1 || len(all[1].events) != 1 {
		t.Fatalf("got %+v, want two simulations with an event each", all)
	}
	if e := all[0].events[0]; e.at != 1500*time.Millisecond || e.lane != "A0" || e.text != "holds" || e.fault {
		t.Errorf("got %+v", e)
	}
	if got := len(all[0].faults()); got != 0 {
		t.Errorf("got %d faults of the first simulation, want none", got)
	}
	if got := all[1].faults(); len(got) != 1 || string(got[0]) != `{"at":"2s","lane":"A","text":"cut","fault":{"kind":"cut"}}`+"\n" {
		t.Errorf("got the faults %s", got)
	}
}

func TestTheSimulationThatFailedIsFound(t *testing.T) {
	s, found := failedSection([]byte(`{"test":"TestA/b","seed":7,"failed":false}
{"test":"TestA/c","seed":8,"failed":true}
{"test":"TestA/d","seed":9,"failed":true}
`))
	if !found || s.seed != 8 {
		t.Errorf("got %t, seed %d; want seed 8", found, s.seed)
	}
	if got, want := s.pattern(), "^TestA$/^c$"; got != want {
		t.Errorf("got the pattern %s, want %s", got, want)
	}
	if s, found := failedSection([]byte(`{"test":"TestA/b","seed":7,"failed":false}` + "\n")); found {
		t.Errorf("got %+v, want none", s)
	}
}
