//go:build linux

package zklock_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

var (
	rounds = flag.Int("rounds", 5, "how many times TestChildrenOfTwoNeverOverlap cuts a holder off")
	atOnce = flag.Int("at-once", 5, "how many of these rounds run at a time")
	flags  = flag.String("flags", strings.Join(session, " "), "zklock's flags in these rounds")
)

// stamping is a zklock whose command, which ignores TERM, and a daemon of it write stamps.
func stamping(t *testing.T, server, file string, args ...string) *running {
	t.Helper()
	return startWith(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server, stampFile+"="+file)
	}, with(args, "--", os.Args[0], "daemon")...)
}

// A contest is a holder and a waiter behind it on one path, both with commands that write stamps.
type contest struct {
	t              *testing.T
	holder, waiter *running
	files          [2]string
}

func newContest(t *testing.T, path, holderServer, waiterServer string, flags ...string) *contest {
	t.Helper()
	dir := t.TempDir()
	c := &contest{t: t, files: [2]string{filepath.Join(dir, "holder"), filepath.Join(dir, "waiter")}}
	c.holder = stamping(t, holderServer, c.files[0], with(flags, path)...)
	c.holder.awaitOutput("stamping\nstamping\n")
	c.waiter = stamping(t, waiterServer, c.files[1], with(flags, path)...)
	c.waiter.await("waiting")
	return c
}

// session is the holder's; 0 if it has ended.
func (c *contest) session(server *zktest.Server) int64 {
	c.t.Helper()
	acquired := c.holder.await("acquired")
	stat, _ := server.Stat(acquired.Path + "/" + acquired.Node)
	return stat.EphemeralOwner
}

// figures are by how much the holder's command was earlier than it had to be.
type figures struct {
	killed time.Duration // from KILL to the moment at which the next one was let in
	last   time.Duration // from the last thing that the holder's processes did to the first that the next one's did
	spare  time.Duration // from the end of all processes to the end of the lease, by the keeper's report
	swept  bool          // the keeper was starved, so that the front killed it and all of them, and there is no spare
}

// judge waits until the waiter's command has run, and fails if it ran while one of the holder's processes did.
func (c *contest) judge() (f figures) {
	c.t.Helper()
	c.awaitNext()
	c.holder.allGone()
	c.waiter.signal(syscall.SIGKILL)
	c.waiter.allGone()
	_, last, writers := stamps(c.t, c.files[0])
	first, _, _ := stamps(c.t, c.files[1])
	if writers != 2 {
		c.t.Errorf("%d processes of the holder wrote stamps, want 2", writers)
	}
	if f.last = first - last; f.last <= 0 {
		c.t.Errorf("two commands overlapped by %v", -f.last)
	}
	in := c.waiter.await("acquired").Time
	if killed, ok, _ := c.holder.seen("killed"); ok {
		f.killed = in.Sub(killed.Time)
		if f.killed <= 0 {
			c.t.Errorf("KILL came %v after the next one was let in", -f.killed)
		}
	}
	gone, ok, _ := c.holder.seen("gone")
	if f.swept = !ok || gone.Spare == nil; !f.swept {
		f.spare = time.Duration(*gone.Spare * float64(time.Millisecond))
	}
	return f
}

// awaitNext waits until the waiter's command runs.
func (c *contest) awaitNext() { c.t.Helper(); c.waiter.awaitOutput("stamping\nstamping\n") }

func TestFrozenServerEndsTheCommandBeforeTheLease(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	// A keeper that does not run for longer than the grace sends no TERM; one for longer than the margin, a late KILL.
	c := newContest(t, "/locks/a", server.Addr(), server.Addr(), "-session", "48s", "-grace", "6s", "-margin", "6s")
	server.Freeze()
	warned := c.holder.await("warned")
	killed := c.holder.await("killed")
	c.holder.wantStatus(79)
	if got := *warned.Spare; got > 12000 || got <= 6000 {
		t.Errorf("TERM came %v ms before the end of the lease, want 12000, and no later than 6000", got)
	}
	if got := *killed.Spare; got > 6000 || got <= 0 {
		t.Errorf("KILL came %v ms before the end of the lease, want 6000, and in time", got)
	}
	for _, s := range server.Sessions() { // by time they would end as much later; the waiter may have lost its own
		server.ExpireSession(s.ID)
	}
	server.Unfreeze()
	t.Logf("%+v", c.judge())
}

func TestOutageThatEndsWithinTheGraceEndsNothing(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	// the outage has to end in the grace
	r := start(t, server.Addr(), with([]string{"-session", "60s", "-grace", "14s", "-margin", "1s", "/locks/a"},
		script("trap 'echo term' TERM; echo ready; exec 4<>"+fifo+"; until read line <&4; do :; done; exit 7")...)...)
	r.awaitOutput("ready")
	server.Freeze()
	r.await("warned")
	server.Unfreeze()
	r.await("recovered")
	r.awaitOutput("term")
	end, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end.Close()
	if _, err := end.WriteString("done\n"); err != nil {
		t.Fatal(err)
	}
	r.wantStatus(7)
}

func TestStoppedZklockHasItsCommandEndedInTime(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newContest(t, "/locks/a", server.Addr(), server.Addr(), session...)
	c.holder.signal(syscall.SIGSTOP)
	c.awaitNext()
	c.holder.wantStatus(79) // it goes on by itself
	t.Logf("%+v", c.judge())
}

// The kernel continues the keeper when TERM is due.
func TestZklockAndKeeperThatAreStoppedHaveTheCommandEndedInTime(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newContest(t, "/locks/a", server.Addr(), server.Addr(), session...)
	keeper := c.holder.keeper()
	c.holder.signal(syscall.SIGSTOP)
	if err := syscall.Kill(keeper, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	c.awaitNext()
	c.holder.wantStatus(79)
	t.Logf("%+v", c.judge())
}

// Zklock renews the lease while its keeper is stopped. The keeper goes on when TERM would be due by the lease that it
// knows of, and hears of the renewals first.
func TestStoppedKeeperOfALeaseThatIsRenewedEndsNothing(t *testing.T) {
	t.Parallel()
	server := zktest.New(t)
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, server.Addr(), with(session, with([]string{"/locks/a"}, script("echo ready; read line <"+fifo+"; exit 4")...)...)...)
	r.awaitOutput("ready")
	keeper := r.keeper()
	if err := syscall.Kill(keeper, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	await.Until(t, patience, "the keeper to stop", func() bool { return isStopped(t, keeper) })
	await.Until(t, patience, "the keeper to go on", func() bool { return !isStopped(t, keeper) })
	end, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	end.Close()
	r.wantStatus(4)
	if got, want := r.names(), "acquired started exited gone released"; got != want {
		t.Errorf("got the events %s, want %s", got, want)
	}
}

func TestStoppedKeeperHasItsCommandEndedInTime(t *testing.T) {
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(100*time.Millisecond))
	c := newContest(t, "/locks/a", server.Addr(), server.Addr(), session...)
	if err := syscall.Kill(c.holder.keeper(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	server.ExpireSession(c.session(server))
	c.holder.wantStatus(79)
	c.holder.allGone()
}

// What follows is the same on real servers.

func TestOnRealServersTheNextOneIsLetInWhenAllIsGone(t *testing.T) {
	t.Parallel()
	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	server := ensemble.Members()[0]
	direct := server.Addr()
	t.Run("together", func(t *testing.T) { // ends before the server does
		t.Run("holder cut off", func(t *testing.T) {
			t.Parallel()
			route := server.Route()
			c := newContest(t, "/locks/cut", route.Addr(), direct, session...)
			route.Cut()
			c.holder.wantStatus(79)
			t.Logf("%+v", c.judge())
		})
		t.Run("holder cut off, its questions arrive and no answers", func(t *testing.T) {
			t.Parallel()
			route := server.Route()
			c := newContest(t, "/locks/deaf", route.Addr(), direct, session...)
			route.FromServer.Cut()
			c.holder.wantStatus(79)
			t.Logf("%+v", c.judge())
		})
		t.Run("zklock killed", func(t *testing.T) {
			t.Parallel()
			c := newContest(t, "/locks/killed", direct, direct, session...)
			c.holder.signal(syscall.SIGKILL)
			t.Logf("%+v", c.judge())
		})
		t.Run("zklock stopped", func(t *testing.T) {
			t.Parallel()
			c := newContest(t, "/locks/stopped", direct, direct, session...)
			c.holder.signal(syscall.SIGSTOP)
			c.awaitNext()
			c.holder.wantStatus(79) // it goes on by itself
			t.Logf("%+v", c.judge())
		})
		t.Run("keeper stopped, then cut off", func(t *testing.T) {
			t.Parallel()
			route := server.Route()
			c := newContest(t, "/locks/keeper", route.Addr(), direct, session...)
			if err := syscall.Kill(c.holder.keeper(), syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			route.Cut()
			c.holder.wantStatus(79)
			t.Logf("%+v", c.judge())
		})
		t.Run("node removed by hand", func(t *testing.T) {
			t.Parallel()
			r := stamping(t, direct, filepath.Join(t.TempDir(), "stamps"), with(session, "/locks/removed")...)
			r.awaitOutput("stamping\nstamping\n")
			if err := connect(t, direct).Delete(t.Context(), "/locks/removed/"+r.await("acquired").Node, -1); err != nil {
				t.Fatal(err)
			}
			r.wantStatus(79)
			r.allGone()
			if _, warned, _ := r.seen("warned"); warned {
				t.Error("the command got a grace after the lock was gone")
			}
		})
		t.Run("server frozen", func(t *testing.T) {
			t.Parallel()
			// not that of the others
			server := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1}).Members()[0]
			c := newContest(t, "/locks/frozen", server.Addr(), server.Addr(), session...)
			server.Freeze()
			c.holder.wantStatus(79)
			server.Unfreeze()
			t.Logf("%+v", c.judge())
		})
	})
}

// go test -C integration ./zklock -run Overlap -v -rounds 200 -at-once 8 -flags '-session 6s' takes four minutes. On a
// machine that stalls, only a longer session lasts until the cut, and only a longer margin until KILL.
func TestChildrenOfTwoNeverOverlap(t *testing.T) {
	t.Parallel()
	ensemble := zookeeper.StartEnsemble(t, zookeeper.EnsembleConfig{Servers: 1})
	server := ensemble.Members()[0]
	var mu sync.Mutex
	var all []figures
	turn := make(chan struct{}, *atOnce)
	t.Run("rounds", func(t *testing.T) {
		for round := range *rounds {
			t.Run(strconv.Itoa(round), func(t *testing.T) {
				t.Parallel()
				turn <- struct{}{}
				defer func() { <-turn }()
				route := server.Route()
				c := newContest(t, "/locks/"+strconv.Itoa(round), route.Addr(), server.Addr(), strings.Fields(*flags)...)
				// the cut comes at any point of a renewal's period, a quarter of the session timeout
				time.Sleep(time.Duration(round%20) * 350 * time.Millisecond)
				route.Cut()
				c.holder.wantStatus(79)
				f := c.judge()
				mu.Lock()
				defer mu.Unlock()
				all = append(all, f)
			})
		}
	})
	tell := func(what string, of func(figures) time.Duration, has func(figures) bool) {
		var values []time.Duration
		for _, f := range all {
			if has(f) {
				values = append(values, of(f).Round(time.Millisecond))
			}
		}
		if len(values) == 0 {
			return
		}
		slices.Sort(values)
		t.Logf("%-70s %v [%v .. %v] in %d", what, values[len(values)/2], values[0], values[len(values)-1], len(values))
	}
	t.Logf("%d rounds, %s; median [least .. most]", len(all), *flags)
	every, kept := func(figures) bool { return true }, func(f figures) bool { return !f.swept }
	tell("from KILL until the next one was let in", func(f figures) time.Duration { return f.killed }, every)
	tell("from the last act of the one command to the first of the other", func(f figures) time.Duration { return f.last }, every)
	tell("from the end of all processes to the end of the lease", func(f figures) time.Duration { return f.spare }, kept)
}
