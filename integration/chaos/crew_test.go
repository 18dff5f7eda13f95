//go:build linux

package chaos_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/internal/drivers"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/integration/zookeeper"
)

// Languages.
const (
	ours   = drivers.Ours
	java   = "java"
	python = "kazoo"
)

// The directories of locks, each with its kind's name. Curator does not count the nodes of kazoo, so these two share
// none. Members has registrations, and store what holders write to.
const (
	root      = "/chaos"
	withJava  = root + "/mutex"
	withKazoo = root + "/mutex-kazoo"
	readWrite = root + "/read-write"
	semaphore = root + "/semaphore"
	election  = root + "/leader"
	retained  = root + "/retained"
	data      = root + "/data" // what the caches follow
	members   = data + "/members"
	store     = data + "/store"

	leases = 2 // that the semaphore has
)

// queues are the directories that have contenders' nodes.
var queues = []string{withJava, withKazoo, readWrite, semaphore + "/leases", election, retained}

// A post is a contender of a slot.
type post struct{ recipe, path, side string }

var register = post{recipe: "persistentnode"}

// slots are the processes, and behind them the followers, which are caches in this process.
var slots = []struct {
	name, language string
	posts          []post
}{
	{"go-1", ours, []post{
		{"mutex", withJava, ""},
		{"mutex", withKazoo, ""},
		{"rw", readWrite, "write"},
		{"rw", readWrite, "read"},
		{"semaphore", semaphore, ""},
		{"selector", election, ""},
		{"retained", retained, ""},
		{"retained", retained, ""},
		register,
	}},
	{"go-2", ours, []post{
		{"mutex", withJava, ""},
		{"rw", readWrite, "read"},
		{"rw", readWrite, "write"},
		{"semaphore", semaphore, ""},
		{"selector", election, ""},
		{"retained", retained, ""},
		register,
	}},
	{"java", java, []post{
		{"mutex", withJava, ""},
		{"mutex", withJava, ""},
		{"rw", readWrite, "write"},
		{"rw", readWrite, "read"},
		{"semaphore", semaphore, ""},
		{"semaphore", semaphore, ""},
		{"selector", election, ""},
		register,
	}},
	{"kazoo", python, []post{{"mutex", withKazoo, ""}}},
	{"follower-1", "", nil},
	{"follower-2", "", nil},
}

// processes is how many slots are processes.
const processes = 4

// A slot is a process, or the one that follows it, and its ways to the servers.
type slot struct {
	number  int
	routes  []*zookeeper.Route // one to each server
	process *drivers.Process
	workers sync.WaitGroup
	whos    []string // the contenders
	clients []string
	ours    []string          // clients of this library
	members map[string]string // a registration's path, by its contender
}

func (s *slot) connectString() string {
	addrs := make([]string, len(s.routes))
	for i, r := range s.routes {
		addrs[i] = r.Addr()
	}
	return strings.Join(addrs, ",")
}

func command(t testing.TB, language string) []string {
	t.Helper()
	switch language {
	case java:
		return drivers.JavaCommand(t, drivers.CuratorVersion)
	case python:
		return drivers.KazooCommand(t)
	default:
		return drivers.GoCommand(t)
	}
}

// start starts the process of a slot and sets its contenders to work.
func (r *run) start(s *slot) {
	r.t.Helper()
	kind := slots[s.number]
	s.process = drivers.Start(r.t, kind.language, command(r.t, kind.language), r.hear)
	r.t.Cleanup(s.process.Kill)
	s.whos, s.clients, s.ours, s.members = nil, nil, nil, map[string]string{}
	var ready []func()
	for _, p := range kind.posts {
		who := r.employ(s, kind.language, p)
		if p == register {
			r.done(s.process, godriver.Order{Op: "acquire", Who: who, MS: -1, N: 1})
			continue
		}
		process := s.process
		ready = append(ready, func() { r.work(process, who, p) })
	}
	for _, work := range ready {
		s.workers.Go(work)
	}
}

// employ makes one contender with a client of its own.
func (r *run) employ(s *slot, language string, p post) (who string) {
	r.t.Helper()
	r.names++
	who = fmt.Sprintf("%s.%d", slots[s.number].name, r.names)
	client, text := who+"-client", who
	open := godriver.Order{
		Op: "open", Client: client, Connect: s.connectString(), Session: int(sessionTimeout.Milliseconds()), Data: &text,
		MS: patience.Milliseconds(),
	}
	if language == ours {
		open.Journal = r.record.File(client)
		s.ours = append(s.ours, client)
	}
	s.clients = append(s.clients, client)
	r.done(s.process, open)
	hire := godriver.Order{
		Op: "contender", Client: client, Who: who, Recipe: p.recipe, Path: p.path, Max: leases, Data: &text,
		Patterns: []string{"lock-"},
	}
	if p == register {
		hire.Path, hire.Mode = members+"/"+who, "EPHEMERAL"
		s.members[who] = hire.Path
	}
	r.history.hire(who, language, p)
	s.whos = append(s.whos, who)
	r.done(s.process, hire)
	return who
}

// work has a contender work until the run or its process ends.
func (r *run) work(process *drivers.Process, who string, p post) {
	for {
		select {
		case <-r.stop:
			return
		default:
		}
		order := godriver.Order{
			Op: "work", Who: who, Side: p.side, MS: -1, N: 1, Times: 5,
			Hold: 20_000 + rand.Int64N(100_000), Pause: rand.Int64N(100_000), Store: path.Join(store, path.Base(p.path)),
		}
		select {
		case a := <-process.Order(order):
			if a.Error != "" {
				return
			}
		case <-time.After(2 * patience):
			await.Errorf(r.t, "%s to work", who)
			return
		}
	}
}

// done gives an order and waits until it is done. An error ends the test.
func (r *run) done(p *drivers.Process, order godriver.Order) {
	r.t.Helper()
	select {
	case a := <-p.Order(order):
		if a.Error != "" {
			r.t.Fatalf("%s: %s %s: %s\n%s", p.Language, order.Op, order.Who, a.Error, p.Stderr)
		}
	case <-time.After(patience):
		await.Fatalf(r.t, "the answer of %s to %s", p.Language, order.Op)
	}
}

// kill kills the process of a slot.
func (r *run) kill(s *slot) {
	s.process.Kill()
	now := godriver.Now()
	for _, client := range s.ours {
		r.record.Die(client)
	}
	s.workers.Wait()
	r.history.died(s.whos, now)
	s.members = nil
}
