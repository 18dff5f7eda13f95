//go:build linux

package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Kinds of faults: of servers, and of clients.
const (
	killServer    = "kill a server"
	freezeServer  = "freeze a server"
	cutServers    = "cut two servers apart"
	deafenServer  = "cut one way between two servers"
	isolateServer = "cut a server off from the others"
	rollServers   = "rolling restart"
	fillDisk      = "full disk"

	killProcess   = "kill -9 a client"
	freezeProcess = "freeze a client"
	cutClient     = "cut a client off"
	muteClient    = "cut one way to a server"
	deafenClient  = "cut one way from a server"
	resetClient   = "reset connections"
	stallClient   = "stall connections"
)

// A fault is one thing that happens. What it happens to does not depend on anything but the seed.
type fault struct {
	Kind   string        `json:"kind"`
	Server int           `json:"server,omitempty"` // its number; 0 of a client's links for all
	Peer   int           `json:"peer,omitempty"`   // the number of another server
	Slot   int           `json:"slot,omitempty"`   // the number of a client
	For    time.Duration `json:"for"`
}

func (f fault) String() string {
	text := fmt.Sprintf("%s for %v", f.Kind, f.For)
	switch {
	case f.Peer != 0:
		text += fmt.Sprintf(", servers %d and %d", f.Server, f.Peer)
	case f.Server != 0:
		text += fmt.Sprintf(", server %d", f.Server)
	}
	if f.Slot > 0 {
		text += ", client " + slots[f.Slot-1].name
	}
	return text
}

// A window is a time with faults. Afterwards all heals, and everything is served again, before the next one.
type window []fault

func (w window) String() string {
	parts := make([]string, len(w))
	for i, f := range w {
		parts[i] = f.String()
	}
	return strings.Join(parts, "; ")
}

// A schedule draws windows. Each kind comes once before any comes again.
type schedule struct {
	random          *rand.Rand
	servers         int
	ofServers, ofUs deck
}

type deck struct{ kinds, rest []string }

func (d *deck) draw(r *rand.Rand) string {
	if len(d.rest) == 0 {
		d.rest = append(d.rest, d.kinds...)
		r.Shuffle(len(d.rest), func(i, j int) { d.rest[i], d.rest[j] = d.rest[j], d.rest[i] })
	}
	kind := d.rest[0]
	d.rest = d.rest[1:]
	return kind
}

func newSchedule(seed uint64, servers int, disks bool) *schedule {
	s := &schedule{random: rand.New(rand.NewPCG(seed, 0)), servers: servers}
	s.ofServers.kinds = []string{killServer, freezeServer, cutServers, deafenServer, isolateServer, rollServers}
	if disks {
		s.ofServers.kinds = append(s.ofServers.kinds, fillDisk)
	}
	s.ofUs.kinds = []string{killProcess, freezeProcess, cutClient, muteClient, deafenClient, resetClient, stallClient}
	return s
}

// next draws a window: a fault of a server, one of a client, or mostly both at a time.
func (s *schedule) next() window {
	var w window
	both := s.random.IntN(6)
	if both != 0 {
		w = append(w, s.ofServer(s.ofServers.draw(s.random)))
	}
	if both != 1 {
		w = append(w, s.ofClient(s.ofUs.draw(s.random)))
	}
	return w
}

func (s *schedule) ofServer(kind string) fault {
	f := fault{Kind: kind, Server: 1 + s.random.IntN(s.servers), For: s.long()}
	other := 1 + (f.Server-1+1+s.random.IntN(s.servers-1))%s.servers
	switch kind {
	case cutServers, deafenServer:
		f.Peer = other
	case rollServers:
		f.Server = 0
	case fillDisk:
		f.Server = diskServer
	default:
	}
	return f
}

func (s *schedule) ofClient(kind string) fault {
	f := fault{Kind: kind, For: s.long(), Server: max(0, s.random.IntN(2*s.servers)-s.servers+1)}
	if kind == killProcess || kind == freezeProcess {
		f.Slot, f.Server = 1+s.random.IntN(processes), 0
		return f
	}
	f.Slot = 1 + s.random.IntN(len(slots))
	return f
}

// long is shorter than a session, nearly as long, or longer.
func (s *schedule) long() time.Duration {
	part := []float64{0.2, 0.8, 1.6, 1.6}[s.random.IntN(4)]
	more := time.Duration(s.random.Int64N(300)) * time.Millisecond
	return time.Duration(part*float64(sessionTimeout)) + more
}
