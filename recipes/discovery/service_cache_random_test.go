package discovery_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/discovery"
)

// Subscribers of any moment, fast and slow, end with what the servers have, whatever has happened meanwhile: no event
// contradicts those before.
func TestSubscribersOfAnyMomentEndWithWhatTheServersHave(t *testing.T) {
	for _, version := range []string{"3.5", "3.9.5"} {
		for seed := range uint64(10) {
			t.Run(fmt.Sprint(version, " ", seed), func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					randomHistory(t, server, rand.New(rand.NewPCG(seed, 9)))
				}, zktest.WithVersion(version))
			})
		}
	}
}

func randomHistory(t *testing.T, server *zktest.Server, random *rand.Rand) {
	client, link := newClient(t, server)
	link.SetLatency(time.Millisecond)
	first, _ := newClient(t, server)
	second, _ := newClient(t, server)
	c := follow(t, client)
	var ears []*ear
	for step := range 150 {
		if step%15 == 0 {
			pause := time.Duration(random.IntN(3)) * 10 * time.Millisecond
			e := &ear{known: map[string]string{}}
			c.OnEvent(func(event discovery.Event) { time.Sleep(pause); e.hear(event) })
			ears = append(ears, e)
		}
		who := []*framework.Client{first, second}[random.IntN(2)]
		path := orders + "/" + string(rune('a'+random.IntN(3)))
		content := data(t, order(path[len(path)-1:], step))
		if random.IntN(4) == 0 {
			content = content[1:]
		}
		created := framework.WithMode([]framework.CreateMode{framework.Ephemeral, framework.Persistent}[random.IntN(2)])
		switch random.IntN(10) {
		case 0:
			link.Reset()
		case 1:
			server.ExpireSession(sessionOf(t, who))
		case 2:
			link.Cut()
			time.AfterFunc(20*time.Millisecond, link.Heal)
		case 3, 4:
			_, _ = who.Set(t.Context(), path, content, -1)
		case 5:
			_ = who.Delete(t.Context(), path, -1)
		case 6, 7:
			_, _ = who.Transaction(t.Context(), framework.DeleteOp(path, -1), framework.CreateOp(path, content, created))
		default:
			_, _, _ = who.Create(t.Context(), path, content, created, framework.CreatingParentsIfNeeded())
		}
		time.Sleep(time.Duration(random.IntN(8)) * time.Millisecond)
	}
	time.Sleep(sessionTimeout)
	var good, bad []string
	for _, node := range server.Children(orders) {
		content, _ := server.Data(orders + "/" + node)
		var i discovery.ServiceInstance
		if json.Unmarshal(content, &i) != nil {
			bad = append(bad, node)
			continue
		}
		good = append(good, brief(i))
	}
	wantInstances(t, c, good...)
	if got := slices.Sorted(maps.Keys(c.Bad())); !slices.Equal(got, bad) {
		t.Errorf("the cache has the bad nodes %v, want %v", got, bad)
	}
	for _, e := range ears {
		e.wantKnown(t, c)
	}
}
