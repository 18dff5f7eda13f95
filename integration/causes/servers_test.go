//go:build linux

package causes_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// atOnce is how many processes lose their leases by one fault of the servers.
const atOnce = 5

// A fault is something that servers do.
type fault struct {
	servers string // that the clients know
	begin   func()
	end     func()
	says    func(sentence string, lasted, paused time.Duration) error
}

// The tests share the servers, one after the other.
func TestWhatServersDoIsNamed(t *testing.T) {
	t.Parallel()
	// A follower of which its leader hears late is not left alone for that.
	e := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{SyncLimit: 100})
	for _, test := range []struct {
		name       string
		want       session.LossKind
		make       func(t *testing.T, e *zookeeper.Ensemble) fault
		anyUnknown bool
	}{
		{"a frozen follower", session.LossNotAnswered, frozenFollower, false},
		{"an ensemble without a majority", session.LossNotServing, noMajority, false},
		{"slow proposals", session.LossAnsweredLate, slowProposals, false},
		// A server that answers a ping and then nothing may as well be gone. Only another one makes the difference.
		{"slow proposals, and clients that know one server", session.LossAnsweredLate, slowProposalsOfOne, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &tally{cause: test.name, want: test.want, anyUnknown: test.anyUnknown}
			c.fill(t, func(n int) {
				f := test.make(t, e)
				holders := startHolders(t, min(n, atOnce), f.servers)
				began := godriver.Now()
				f.begin()
				losses := make([]godriver.Answer, len(holders))
				for i, h := range holders {
					losses[i] = h.loss(h.lost)
					h.Kill()
				}
				ended := godriver.Now()
				f.end()
				for _, a := range losses {
					c.add(t, a, truth{began: began, ended: ended, says: f.says})
				}
			})
		})
	}
}

// direct is where clients reach servers without a proxy, which would take connections for a server that is dead.
func direct(servers ...*zookeeper.Member) string {
	addrs := make([]string, len(servers))
	for i, m := range servers {
		addrs[i] = m.Server.Addr()
	}
	return strings.Join(addrs, ",")
}

func settled(t *testing.T, e *zookeeper.Ensemble) (leader *zookeeper.Member, followers []*zookeeper.Member) {
	t.Helper()
	if leader, followers = e.Settled(); leader == nil {
		t.FailNow()
	}
	return leader, followers
}

// frozenFollower stops a follower (SIGSTOP). Its clients know no other server, or reach none.
func frozenFollower(t *testing.T, e *zookeeper.Ensemble) fault {
	t.Helper()
	_, followers := settled(t, e)
	m := followers[rand.IntN(len(followers))]
	f := fault{servers: m.Server.Addr(), begin: m.Freeze, end: m.Unfreeze, says: says(m.Server.Addr())}
	if rand.IntN(2) == 0 {
		for range 2 {
			port, err := zookeeper.FreePort() // it refuses
			if err != nil {
				t.Fatal(err)
			}
			f.servers += fmt.Sprintf(",127.0.0.1:%d", port)
		}
	}
	return f
}

// noMajority kills two of the three servers.
func noMajority(t *testing.T, e *zookeeper.Ensemble) fault {
	t.Helper()
	settled(t, e)
	all := e.Members()
	servers := direct(all...)
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return fault{
		servers: servers,
		begin: func() {
			for _, m := range all[1:] {
				m.Kill()
			}
		},
		end: func() {
			for _, m := range all[1:] {
				m.Start()
			}
		},
		says: says("hung up on the handshake for "),
	}
}

// slowProposals has all that servers say to each other arrive late, so that a write takes that long several times.
func slowProposals(t *testing.T, e *zookeeper.Ensemble) fault {
	t.Helper()
	leader, followers := settled(t, e)
	var links zookeeper.Links
	for _, m := range followers {
		links = append(links, e.Between(leader, m)...)
	}
	delay := sessionTimeout/2 + upTo(sessionTimeout/2)
	return fault{
		servers: direct(e.Members()...),
		begin:   func() { links.Delay(delay) },
		end:     func() { links.Delay(0) },
		says:    says("answered"),
	}
}

func slowProposalsOfOne(t *testing.T, e *zookeeper.Ensemble) fault {
	t.Helper()
	f := slowProposals(t, e)
	f.servers = direct(e.Members()[rand.IntN(3)])
	return f
}
