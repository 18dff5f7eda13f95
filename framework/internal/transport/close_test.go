package transport_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// The bubbles prove that no goroutine is left.
func TestCloseIsPromptInEveryPhase(t *testing.T) {
	black := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		dial  func(link *zktest.Link) dialFunc
		bring func(srv *zktest.Server, link *zktest.Link, heard *told, t *testing.T)
		told  bool
		takes time.Duration
	}{
		"at once": {},
		"dialing": {dial: func(*zktest.Link) dialFunc { return black }, bring: func(*zktest.Server, *zktest.Link, *told, *testing.T) { time.Sleep(time.Hour) }},
		"pausing": {bring: func(_ *zktest.Server, link *zktest.Link, _ *told, _ *testing.T) {
			link.Cut()
			time.Sleep(time.Minute + 100*time.Millisecond)
		}},
		"in the handshake": {
			dial:  func(link *zktest.Link) dialFunc { link.SetLatency(time.Second); return link.DialContext },
			bring: func(*zktest.Server, *zktest.Link, *told, *testing.T) { time.Sleep(2500 * time.Millisecond) },
		},
		"attached": {bring: func(_ *zktest.Server, _ *zktest.Link, heard *told, t *testing.T) { attach(t, heard) }, told: true},
		"detached": {bring: func(_ *zktest.Server, link *zktest.Link, heard *told, t *testing.T) {
			attach(t, heard)
			link.Cut()
			time.Sleep(time.Second)
		}},
		"mute": {bring: func(_ *zktest.Server, link *zktest.Link, heard *told, t *testing.T) { attach(t, heard); link.Mute() }, takes: time.Second},
		"frozen": {bring: func(srv *zktest.Server, _ *zktest.Link, heard *told, t *testing.T) {
			attach(t, heard)
			srv.Freeze()
		}, takes: time.Second},
		"expired": {bring: func(srv *zktest.Server, _ *zktest.Link, heard *told, t *testing.T) {
			attach(t, heard)
			srv.ExpireSession(heard.attached[0].SessionID)
			time.Sleep(time.Minute)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				srv := server(t)
				link := srv.NewLink()
				dial := link.DialContext
				if c.dial != nil {
					dial = c.dial(link)
				}
				tr, heard := start(t, dial)
				if c.bring != nil {
					synctest.Wait()
					c.bring(srv, link, heard, t)
				}
				before := time.Now()
				if got := tr.Close(time.Second); got != c.told && c.bring != nil {
					t.Errorf("told: %v", got)
				}
				if d := time.Since(before); d != c.takes {
					t.Errorf("Close took %v", d)
				}
				events := len(heard.all())
				time.Sleep(time.Hour)
				if len(heard.all()) != events {
					t.Errorf("told after Close: %v", heard.all()[events:])
				}
				if tr.Send(transport.Sync("/", func(error) {})) {
					t.Error("a call was taken after Close")
				}
			})
		})
	}
}

func TestCloseMayBeCalledByMany(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		tr, heard := start(t, zktest.New(t).DialContext)
		attach(t, heard)
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() { tr.Close(time.Second) })
		}
		wg.Wait()
	})
}

func TestCloseWhileTheConnectionBreaksAndComesBack(t *testing.T) {
	for i := range 100 {
		zktest.Bubble(t, func(t *testing.T) {
			srv := server(t)
			link := srv.NewLink()
			link.SetLatency(time.Millisecond)
			tr, heard := start(t, link.DialContext)
			attach(t, heard)
			tr.Break(errors.New("broken"))
			time.Sleep(time.Duration(i) * 100 * time.Microsecond)
			before := time.Now()
			tr.Close(time.Second)
			if d := time.Since(before); d > 10*time.Millisecond {
				t.Errorf("closed %d µs after the break: it took %v", i*100, d)
			}
		})
	}
}
