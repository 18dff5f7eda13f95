package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

func TestSummaryCountsWhatEachWorkerHad(t *testing.T) {
	stdout, _ := inBubble(t, 0, "-workers=3", "-rounds=2", "-hold=20ms", "-crash=2", "-session=1s", "-json")
	s := summaryOf(t, stdout)
	if s.Holds != 5 || s.Lost != 1 || s.Interrupted || len(s.Problems) != 0 || s.HandOver == nil || len(s.Workers) != 3 {
		t.Fatalf("got %+v, want 5 holds of 3 workers, one lost, and nothing wrong", s)
	}
	first, second := s.Workers[0], s.Workers[1]
	if first.Came != 2 || first.Held != 2 || first.HeldFor < 40 || first.Waited < first.Longest || first.Longest <= 0 {
		t.Errorf("got %+v, want two holds of 20 ms", first)
	}
	if second.Came != 1 || second.Lost != 1 {
		t.Errorf("got %+v, want one hold that was lost", second)
	}
}

func TestSummaryOfAnInterruptedRunSaysSo(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(&demo.StopError{Signal: syscall.SIGINT}) })
		var stdout, stderr bytes.Buffer
		status := run(ctx, []string{"-workers=2", "-hold=1h", "-json"}, &stdout, &stderr, true)
		if s := summaryOf(t, stdout.String()); status != 130 || !s.Interrupted || s.Holds != 1 || s.Workers[0].Came+s.Workers[1].Came != 2 {
			t.Errorf("got status %d and %+v, want 130 and an interrupted run", status, s)
		}
	})
}

func TestTableFits80ColumnsAndNamesEachWorker(t *testing.T) {
	stdout, _ := inBubble(t, 0, "-workers=12", "-hold=20ms")
	_, rest, found := strings.Cut(stdout, "\nworker    came")
	if !found || strings.Count(rest, "\n    ") < 12 {
		t.Errorf("got no line for each worker in\n%s", stdout)
	}
	for line := range strings.Lines(rest) {
		if len(line) > 80 {
			t.Errorf("got %d columns: %q", len(line), line)
		}
	}
}

func TestServersThatAreGoneAreReported(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { server.RefuseConnections(true); server.CutAll() })
		time.AfterFunc(20*time.Second, func() { server.RefuseConnections(false) })
		time.AfterFunc(60*time.Second, func() { cancel(&demo.StopError{Signal: syscall.SIGINT}) })
		var out bytes.Buffer
		s := settings{where: "here", path: "/lock", workers: 2, rounds: 1, hold: time.Hour, session: 4 * time.Second}
		s.Servers = "any:2181"
		r := newReport(&out, s)
		workers, err := hire(s, func(ctx context.Context, network, address string) (net.Conn, error) {
			return server.DialContext(ctx, network, address)
		}, r)
		if err != nil {
			t.Fatal(err)
		}
		defer dismiss(workers)
		if err := connect(ctx, workers); err != nil {
			t.Fatal(err)
		}
		r.begin()
		_ = contend(ctx, workers)
		_ = r.finish(true)
		demo.InOrder(t, out.String(), "SUSPENDED", "waiting for the servers", ": LOST", "the servers answer again")
	})
}
