package simtest

import (
	"flag"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

const path = "/locks/a"

// setFlag sets a flag until the test ends.
func setFlag(t *testing.T, name, value string) {
	t.Helper()
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = flag.Set(name, "") })
}

// stormFor lets faults happen for some time, appends the history to a file, and returns the faults.
func stormFor(t *testing.T, seed uint64, servers int, long time.Duration, history string) (faults []event) {
	t.Helper()
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, seed, servers, path)
		for range 3 {
			e.AddPeer(time.Millisecond)
		}
		var actor sync.WaitGroup
		actor.Go(func() { time.Sleep(long) })
		e.Run(&actor, true)
		if err := e.appendHistory(history); err != nil {
			t.Fatal(err)
		}
		for _, happened := range e.events {
			if happened.Fault != nil {
				faults = append(faults, happened)
			}
		}
	})
	return faults
}

func TestFaultsOfAHistoryHappenAgainAtTheirTimes(t *testing.T) {
	for _, servers := range []int{1, 3} {
		dir := t.TempDir()
		written := filepath.Join(dir, "history")
		const long = 5 * time.Minute
		want := stormFor(t, 7, servers, long, written)
		if len(want) < 80 {
			t.Fatalf("%d faults happened in %v", len(want), long)
		}
		setFlag(t, "faults", written)
		got := stormFor(t, 8, servers, long, filepath.Join(dir, "again"))
		setFlag(t, "faults", "")
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d servers: got %d faults, want %d:\n%v\n%v", servers, len(got), len(want), got, want)
		}
	}
}

func TestLimitsRiseAndFallButNotBelowWhatClientsWereGranted(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, limitedSeeds, 1, path)
		e.AddPeer(0)
		for _, want := range []time.Duration{3 * SessionTimeout, SessionTimeout, 3 * SessionTimeout} {
			e.strike(Fault{Kind: restart})
			stranger := e.newPeer("stranger", 0, 3*SessionTimeout)
			for who, want := range map[*Peer]time.Duration{e.Peers[0]: SessionTimeout, stranger: want} {
				if s, err := who.Session(t.Context()); err != nil || s.Timeout() != want {
					t.Errorf("%s: got a session of %v, %v, want %v", who.Name(), s.Timeout(), err, want)
				}
			}
			_ = stranger.Close()
		}
		_ = e.Peers[0].Close()
	})
}

func TestConnectionsHealAfterTheGivenFaults(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		e := New(t, 1, 1, path)
		e.AddPeer(0)
		stop, over := make(chan struct{}), make(chan struct{})
		go func() {
			e.storm([]event{{At: span(time.Second), Fault: &Fault{Kind: cut}}}, stop)
			close(over)
		}()
		<-over
		if _, err := e.Peers[0].Exists(t.Context(), path); err != nil {
			t.Errorf("got %v after the faults, want an answer", err)
		}
		if got, want := time.Since(e.start), time.Second+3*SessionTimeout; got < want {
			t.Errorf("healed after %v, want %v", got, want)
		}
		_ = e.Peers[0].Close()
	})
}

func TestGivenFaultsThatDoNotFitAreRefused(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Kind: "flood"}, `no fault "flood"`},
		{Fault{Kind: cut, Peer: 2}, "client 2"},
		{Fault{Kind: restart, Server: -1}, "server -1"},
		{Fault{Kind: restart, Server: 1}, "server 1"},
		{Fault{Kind: dropReply}, `no op ""`},
		{Fault{Kind: dropReply, Op: "data", Peer: 1}, ""},
	} {
		switch err := c.fault.check(2, 1); {
		case err == nil && c.want != "":
			t.Errorf("%+v: got no error, want one with %s", c.fault, c.want)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: got %v, want %q", c.fault, err, c.want)
		}
	}
}

func TestRandomFaultsFitTheirSimulation(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		for _, servers := range []int{1, 3} {
			e := New(t, 1, servers, path)
			e.Peers = make([]*Peer, 3)
			dice, kinds := Dice{rand.New(rand.NewPCG(1, 1))}, map[string]bool{}
			for range 1000 {
				f := e.pickFault(dice)
				kinds[f.Kind] = true
				if err := f.check(3, servers); err != nil {
					t.Error(err)
				}
			}
			if got, want := len(kinds), 12+servers/2; got != want {
				t.Errorf("%d servers: got %d kinds of faults, want %d: %v", servers, got, want, kinds)
			}
		}
	})
}
