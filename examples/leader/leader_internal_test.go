package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestReplicasLeadOneAfterTheOther(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), example)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out,
			"a has done item 1",
			"a leaves between two items",
			"b leads 0s after that",
			"b is cut off",
			"b stops: locks: lease on \"/election\" lost", // by its own clock, before another one leads
			"c leads, with token",
			"b is back, and stands by",
			"items were done, each once",
		)
	})
}

// testReplica makes a replica with a network path of its own, and logs what it does.
func testReplica(t *testing.T, server *zktest.Server, id string) (*replica, *zktest.Link, chan event) {
	t.Helper()
	link := server.NewLink()
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(link.DialContext), framework.WithSessionTimeout(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	events := make(chan event, 1000)
	return newReplica(id, client, time.Second, t.Logf, func(e event) { events <- e }), link, events
}

// lead waits until a replica leads.
func lead(t *testing.T, events <-chan event) time.Time {
	t.Helper()
	limit := time.After(time.Hour)
	for {
		select {
		case e := <-events:
			if e.what == "leads" {
				return e.at
			}
		case <-limit:
			t.Fatal("it does not lead")
		}
	}
}

func TestNextLeadsARoundTripAfterTheLeaderIsStopped(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		const oneWay = 50 * time.Millisecond
		server := zktest.New(t)
		first, link, events := testReplica(t, server, "a")
		second, otherLink, otherEvents := testReplica(t, server, "b")
		link.SetLatency(oneWay)
		otherLink.SetLatency(oneWay)
		ctx, sigterm := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- first.stand(ctx) }()
		lead(t, events)
		rest, stop := context.WithCancel(t.Context())
		go func() { ended <- second.stand(rest) }()
		time.Sleep(10*time.Second + 500*time.Millisecond) // in the middle of an item

		stopped := time.Now()
		sigterm()
		if got, want := lead(t, otherEvents).Sub(stopped), 2*oneWay; got != want {
			t.Errorf("the next leads after %v, want a round trip of %v", got, want)
		}
		if err := <-ended; err != nil {
			t.Errorf("the leader that was stopped fails: %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestAnItemThatHasBegunIsDoneBeforeTheLeaderLeaves(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		r, _, events := testReplica(t, server, "a")
		ctx, sigterm := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- r.stand(ctx) }()
		lead(t, events)
		server.DelayReply(zktest.Match{Op: zktest.OpGetData, Path: progress}, 2*time.Second)
		time.Sleep(1500 * time.Millisecond) // an item takes a second, and is then noted
		sigterm()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		for _, want := range []string{"item", "leaves"} {
			select {
			case e := <-events:
				if e.what != want {
					t.Errorf("got %q, want %q", e.what, want)
				}
			default:
				t.Errorf("got nothing, want %q", want)
			}
		}
	})
}

func TestHealthTellsLeaderAndStandby(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		first, link, events := testReplica(t, server, "a")
		second, _, _ := testReplica(t, server, "b")
		want := func(when string, r *replica, path string, status int, text string) {
			t.Helper()
			answer := httptest.NewRecorder()
			r.handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if got := answer.Body.String(); answer.Code != status || !strings.Contains(got, text) {
				t.Errorf("%s, %s: got %d %q, want %d %q", when, path, answer.Code, got, status, text)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 2)
		go func() { ended <- first.stand(ctx) }()
		lead(t, events)
		go func() { ended <- second.stand(ctx) }()
		synctest.Wait()
		want("leads", first, "/readyz", 200, "leader")
		want("waits", second, "/readyz", 200, "standby")
		want("leads", first, "/healthz", 200, "ok")
		link.Cut()
		synctest.Wait()
		want("cut off, within its term", first, "/readyz", 200, "leader")
		for len(server.Children("/election")) == 2 {
			time.Sleep(time.Second)
		}
		want("lost", first, "/readyz", 200, "standby")
		want("lost", first, "/healthz", 200, "ok")
		want("has succeeded", second, "/readyz", 200, "leader")
		link.Heal()
		stop()
		<-ended
		<-ended
		_ = first.client.Close()
		want("closed", first, "/healthz", 503, "closed")
	})
}
