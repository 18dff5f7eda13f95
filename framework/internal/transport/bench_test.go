package transport_test

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// benchmarks run f on a transport that is attached: to a server in memory, and by way of TCP, where system calls count.
func benchmarks(b *testing.B, f func(b *testing.B, tr *transport.Transport)) {
	server := zktest.NewServer()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	b.Cleanup(func() { _ = server.Close() })
	tcp := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, listener.Addr().String())
	}
	for _, way := range []struct {
		name string
		dial dialFunc
	}{{"memory", server.DialContext}, {"tcp", tcp}} {
		b.Run(way.name, func(b *testing.B) {
			attached := make(chan struct{}, 1)
			tr := transport.New(transport.Config{
				Route: transport.NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil), Dial: way.dial, SessionTimeout: timeout, ConnectionTimeout: 8 * time.Second, MaxFrame: 1 << 20,
				Logger: slog.New(slog.DiscardHandler),
				Events: transport.Events{
					Granted:  func(time.Duration, time.Time) {},
					Attached: func(transport.Attachment) { attached <- struct{}{} },
					Detached: func(error) {},
					Answered: func(time.Time, time.Time, transport.Reach) {},
					Watch:    func(transport.WatchEvent) {},
					Failed:   func(string, error) {},
					GaveUp:   func() {},
				},
			})
			if err := tr.Start(); err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { tr.Close(time.Second) })
			<-attached
			b.ReportAllocs()
			f(b, tr)
		})
	}
}

// asker sends one request and waits for its answer.
func asker(b *testing.B, tr *transport.Transport) func() {
	answered := make(chan error, 1)
	done := func(_ *zk.Stat, err error) { answered <- err }
	return func() {
		if !tr.Send(transport.Exists("/", false, done)) {
			b.Error("not sent")
			return
		}
		if err := <-answered; err != nil {
			b.Error(err)
		}
	}
}

func BenchmarkOneAtATime(b *testing.B) {
	benchmarks(b, func(b *testing.B, tr *transport.Transport) {
		ask := asker(b, tr)
		for b.Loop() {
			ask()
		}
	})
}

func BenchmarkSixtyFourGoroutines(b *testing.B) {
	benchmarks(b, func(b *testing.B, tr *transport.Transport) {
		turns := make(chan struct{}, 64)
		var wg sync.WaitGroup
		for range 64 {
			wg.Go(func() {
				ask := asker(b, tr)
				for range turns {
					ask()
				}
			})
		}
		for b.Loop() {
			turns <- struct{}{}
		}
		close(turns)
		wg.Wait()
	})
}

// BenchmarkPairs sends two requests at a time, as an acquire does, and has up to 32 pairs on their way.
func BenchmarkPairs(b *testing.B) {
	benchmarks(b, func(b *testing.B, tr *transport.Transport) {
		places := make(chan struct{}, 32)
		first := func(*zk.Stat, error) {}
		second := func(_ []string, _ *zk.Stat, err error) {
			if err != nil {
				b.Error(err)
			}
			<-places
		}
		for b.Loop() {
			places <- struct{}{}
			if !tr.Send(transport.Exists("/", false, first), transport.Children("/", false, second)) {
				b.Fatal("not sent")
			}
		}
		for range cap(places) {
			places <- struct{}{}
		}
	})
}
