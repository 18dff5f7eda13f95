package counters_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// A world is the servers and clients of some histories.
type world struct {
	t        *testing.T
	rand     *rand.Rand // decides on faults
	ensemble *zktest.Ensemble
	links    []*zktest.Link
	clients  []*framework.Client
	calm     bool // no faults
	history
}

func newWorld(t *testing.T, random *rand.Rand) *world {
	w := &world{t: t, rand: random, calm: random.IntN(10) == 0}
	servers := 1
	if random.IntN(3) == 0 {
		servers = 3
	}
	w.ensemble = zktest.NewEnsemble(servers)
	t.Cleanup(func() { _ = w.ensemble.Close() })
	for range 2 + random.IntN(2) {
		w.connect()
	}
	return w
}

func (w *world) connect() {
	link := w.ensemble.NewLink()
	link.SetLatency(time.Duration(w.rand.IntN(3)) * time.Millisecond)
	client, err := framework.NewClient(strings.Join(w.ensemble.Addrs(), ","),
		framework.WithDialer(link.DialContext), framework.WithSessionTimeout(sessionTimeout), framework.WithConnectionTimeout(sessionTimeout),
		framework.WithRetryPolicy(retry.NTimes(3, 10*time.Millisecond)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.links, w.clients = append(w.links, link), append(w.clients, client)
}

func (w *world) end() {
	if nodes := w.ensemble.Leader().Children(lockPath); len(nodes) > 0 {
		w.t.Errorf("lock nodes remain: %q", nodes)
	}
	for _, client := range w.clients {
		_ = client.Close()
	}
}

// storm lets faults happen until the calls have ended.
func (w *world) storm(ended <-chan struct{}) {
	if w.calm {
		w.tally.Calm++
		return
	}
	for {
		w.strike()
		select {
		case <-ended:
			return
		case <-time.After(time.Duration(w.rand.IntN(50)) * time.Millisecond):
		}
		if w.rand.IntN(8) == 0 {
			w.calmDown()
		}
	}
}

func (w *world) strike() {
	server := w.ensemble.Server(w.rand.IntN(w.ensemble.Size()))
	link := w.links[w.rand.IntN(len(w.links))]
	match := zktest.Match{Op: zktest.OpMulti, Path: path, Nth: 1 + w.rand.IntN(3)}
	switch w.rand.IntN(14) {
	case 0, 1, 2:
		server.DropReply(match)
	case 3, 4:
		server.DropRequest(match)
	case 5:
		match.Op = zktest.OpGetData
		server.DropReply(match)
	case 6:
		server.DropReply(zktest.Match{Op: zktest.OpCreate2, Path: path})
	case 7:
		server.DelayReply(match, time.Duration(w.rand.IntN(50))*time.Millisecond)
	case 8:
		link.Reset()
	case 9:
		link.Cut()
	case 10:
		if all := server.Sessions(); len(all) > 0 {
			server.ExpireSession(all[w.rand.IntN(len(all))].ID)
		}
	case 11:
		w.late(server, match)
	case 12:
		w.ensemble.Elect(w.rand.IntN(w.ensemble.Size()))
	case 13:
		w.ensemble.SetLag(w.rand.IntN(w.ensemble.Size()), time.Duration(w.rand.IntN(50))*time.Millisecond)
	}
}

// late stops a thread of the server with a write, which it executes later, when its connection may have ended.
func (w *world) late(server *zktest.Server, match zktest.Match) {
	release := server.Stall(match)
	for _, link := range w.links {
		link.Reset()
	}
	pause := time.Duration(w.rand.IntN(2000)) * time.Millisecond
	time.AfterFunc(pause, release)
	w.t.Cleanup(release)
}

func (w *world) calmDown() {
	for _, link := range w.links {
		link.Heal()
	}
	for i := range w.ensemble.Size() {
		w.ensemble.SetLag(i, 0)
	}
}
