package nodes_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/sampletest"
	"github.com/gocurator/curator/recipes/nodes"
)

var (
	histories = flag.Int("histories", 100, "how many random histories are played with one persistent node")
	firstSeed = flag.Int("first", 0, "the first history's number")
)

// Random faults, removals by hand and strangers' nodes: at each quiet moment the node is there with the newest data if
// it is started and no stranger's is, and the servers' transactions broke no rule.
func TestANodeIsThereAndOursAndStrangersAreSpared(t *testing.T) {
	for _, i := range sampletest.New(t, "histories", "first").Part(*histories, 3) {
		seed := *firstSeed + i
		zktest.Bubble(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(uint64(seed), 2))
			opts := []zktest.Option{}
			if random.IntN(3) == 0 {
				opts = append(opts, zktest.WithTickTime(20*time.Second), zktest.WithSessionTimeouts(time.Second, time.Hour))
			}
			h := newHistory(t, zktest.New(t, opts...), random)
			h.play()
			if t.Failed() {
				t.Logf("history %d, lasting %v, overwriting %v: %v", seed, h.lasting, h.judge.overwriting, h.done)
			}
		})
		if t.Failed() {
			return
		}
	}
}

type history struct {
	t      *testing.T
	rand   *rand.Rand
	server *zktest.Server
	judge  *judge
	done   []string

	client   *framework.Client
	link     *zktest.Link
	stranger *framework.Client // its connection stands
	options  []nodes.Option
	lasting  bool

	node    *nodes.PersistentNode
	started bool
	data    string // newest of the present node
	sets    int
}

func newHistory(t *testing.T, server *zktest.Server, random *rand.Rand) *history {
	h := &history{t: t, rand: random, server: server}
	makeNode(t, server, "/services/web", "")
	h.stranger, _ = newClient(t, server, framework.WithSessionTimeout(time.Hour))
	h.judge = newJudge(server, sessionOf(t, h.stranger).ID())
	t.Cleanup(h.judge.stop)
	h.client, h.link = newClient(t, server)
	if h.lasting = random.IntN(4) == 0; h.lasting {
		h.options = persistent
		h.judge.overwriting = true
	} else if random.IntN(5) == 0 {
		h.options = append(h.options, nodes.Overwriting())
		h.judge.overwriting = true
	}
	return h
}

func (h *history) did(format string, args ...any) {
	h.done = append(h.done, fmt.Sprintf(format, args...))
}

func (h *history) play() {
	for range 3 {
		for range 1 + h.rand.IntN(7) {
			h.use()
			h.fault()
			h.pause()
		}
		h.quiet()
		if h.t.Failed() {
			return
		}
	}
	h.link.Heal()
	h.close()
	time.Sleep(5 * sessionTimeout)
	if creator := h.judge.creator(); creator == ours {
		h.t.Error("after Close a node of ours is there, want none")
	}
}

// use is what the program does.
func (h *history) use() {
	switch choice := h.rand.IntN(8); {
	case !h.started:
		h.start()
	case choice == 0:
		h.close()
	case choice < 4:
		h.set()
	}
}

func (h *history) start() {
	if h.node == nil {
		h.data = fmt.Sprint("start ", h.sets)
		h.node = nodes.NewPersistentNode(h.client, path, []byte(h.data), h.options...)
	}
	err := h.node.Start(within(h.t, time.Duration(h.rand.IntN(30_000))*time.Millisecond))
	h.started = err == nil
	h.judge.keep(h.started)
	h.did("start: %v", err)
}

func (h *history) set() {
	h.sets++
	h.data = fmt.Sprint("set ", h.sets)
	err := h.node.Set(within(h.t, time.Duration(h.rand.IntN(3000))*time.Millisecond), []byte(h.data))
	h.did("%s: %v", h.data, err)
}

func (h *history) close() {
	if h.node == nil || !h.started {
		return
	}
	h.judge.keep(false)
	err := h.node.Close()
	h.did("close: %v", err)
	for err != nil && h.lasting { // a later one removes it
		h.link.Heal()
		time.Sleep(time.Second)
		h.node = nodes.NewPersistentNode(h.client, path, nil, h.options...)
		if err = h.node.Start(h.t.Context()); err == nil {
			err = h.node.Close()
		}
		h.did("close again: %v", err)
	}
	h.node, h.started = nil, false
}

func (h *history) pause() {
	d := []time.Duration{0, time.Millisecond, 30 * time.Millisecond, time.Second, 9 * time.Second, 40 * time.Second}[h.rand.IntN(6)]
	time.Sleep(d)
	h.did("%v", d)
}

func (h *history) fault() {
	choice := h.rand.IntN(16)
	h.did("fault %d", choice)
	switch choice {
	case 0:
		h.link.Cut()
	case 1:
		h.link.Mute()
	case 2:
		h.link.Heal()
	case 3:
		h.link.Reset()
	case 4:
		h.link.SetLatency(time.Duration(h.rand.IntN(20)) * time.Millisecond)
	case 5, 6, 7:
		h.disturbRequest()
	case 8:
		for _, s := range h.server.Sessions() {
			if s.ID != h.judge.stranger {
				h.server.ExpireSession(s.ID)
			}
		}
	case 9: // the client gives its session up, which lives on at servers with long ticks
		h.link.Cut()
		time.Sleep(sessionTimeout + time.Second)
		h.disturbRequest()
		h.link.Heal()
	case 10, 11:
		if h.judge.creator() == ours {
			_ = h.server.Delete(path)
		}
	default:
		h.strange()
	}
}

func (h *history) disturbRequest() {
	ops := []zktest.Op{zktest.OpCreate2, zktest.OpMulti, zktest.OpSetData, zktest.OpGetData, zktest.OpExists, zktest.OpDelete}
	m := zktest.Match{Op: ops[h.rand.IntN(len(ops))], Path: path, Nth: 1 + h.rand.IntN(2)}
	switch h.rand.IntN(4) {
	case 0:
		h.server.DropRequest(m)
	case 1:
		h.server.DropReply(m)
	case 2:
		h.server.ThrottleRequest(m)
	default:
		if h.server.DropRequest(m); h.rand.IntN(2) == 0 { // and a longer outage
			h.link.Cut()
		}
	}
}

// quiet ends all faults, and checks what must be.
func (h *history) quiet() {
	h.link.Heal()
	h.link.SetLatency(0)
	time.Sleep(90 * time.Second)
	synctest.Wait()
	creator := h.judge.creator()
	h.did("quiet, node of %d", creator)
	switch {
	case !h.started && creator == ours && !h.lasting:
		h.t.Error("a node of ours is there, want none before Start and after Close")
	case h.started && creator == strangers && !h.lasting: // what outlives sessions names no owner
		if err := h.node.Err(); h.node.There() || !errors.Is(err, nodes.ErrForeign) || h.judge.overwriting {
			h.t.Errorf("behind a stranger's node: got there %v, error %v; want false and %v, and never when overwriting", h.node.There(), err, nodes.ErrForeign)
		}
	case h.started:
		stat, _ := h.server.Stat(path)
		data, _ := h.server.Data(path)
		owner := sessionOf(h.t, h.client).ID()
		if h.lasting {
			owner = 0
		}
		if string(data) != h.data || stat.EphemeralOwner != owner || !h.node.There() || h.node.Err() != nil {
			h.t.Errorf("got %q of session %#x, there %v, error %v; want %q of %#x, true and none",
				data, stat.EphemeralOwner, h.node.There(), h.node.Err(), h.data, owner)
		}
	}
	for _, wrong := range h.judge.broken() {
		h.t.Error(wrong)
	}
}
