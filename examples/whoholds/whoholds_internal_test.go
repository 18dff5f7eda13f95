package main

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

func TestHolderLeavesWhenAsked(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		out, err := demo.Output(t.Context(), example)
		if err != nil {
			t.Error(err)
		}
		demo.InOrder(t, out, "/locks/nightly: held by 1, 1 waiting", "STATE", "holds", "billing at host7", "0x", "lock-0000000000",
			"waits", "reports at host9", "lock-0000000001", "asked _c_", "-lock-0000000000 has left")
	})
}

func TestHolderThatStaysIsAnError(t *testing.T) {
	inBubble(t, func(ctx context.Context, env *demo.Env) error {
		client := env.Client()
		if _, err := locks.NewInterProcessMutex(client, "/lock").Acquire(ctx); err != nil {
			return err
		}
		if err := look(ctx, env, client, "/lock", true, time.Second); err == nil || !strings.Contains(err.Error(), "has not left") {
			t.Errorf("got %v", err)
		}
		return nil
	})
}

func TestStates(t *testing.T) {
	inBubble(t, func(ctx context.Context, env *demo.Env) error {
		client := env.Client()
		lock := locks.NewInterProcessReadWriteLock(client, "/rw")
		semaphore := locks.NewInterProcessSemaphoreV2(client, "/semaphore", 2)
		acquire(ctx, t, lock.ReadLock(), lock.ReadLock(), semaphore, semaphore)
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		queue(ctx, lock.WriteLock(), lock.ReadLock(), semaphore, locks.NewInterProcessSemaphoreV2(env.Client(), "/semaphore", 2))
		for path, want := range map[string]string{
			"/nothing":   "",
			"/rw":        "reads reads waits waits",
			"/semaphore": "holds holds is next waits waits",
		} {
			all, err := read(ctx, client, path)
			if err != nil {
				return err
			}
			var states []string
			for _, s := range all {
				states = append(states, s.state)
			}
			if got := strings.Join(states, " "); got != want {
				t.Errorf("%s: %s, want %s", path, got, want)
			}
		}
		return nil
	})
}

// The leader among latches is not asked to leave: nothing may write to its node.
func TestElectionsAreShown(t *testing.T) {
	inBubble(t, func(ctx context.Context, env *demo.Env) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		for _, id := range []string{"a", "b"} {
			selector := leader.NewLeaderSelector(env.Client(), "/selector", leader.WithID(id))
			go selector.Campaign(ctx)
			latch := leader.NewLeaderLatch(env.Client(), "/latch", leader.WithID(id))
			if err := latch.Start(ctx); err != nil {
				return err
			}
			defer latch.Close()
			synctest.Wait()
		}
		client := env.Client()
		for path, want := range map[string]string{"/selector": "holds a waits b", "/latch": "leads a waits b"} {
			all, err := read(ctx, client, path)
			if err != nil {
				return err
			}
			var got []string
			for _, s := range all {
				got = append(got, s.state, string(s.Data))
			}
			if got := strings.Join(got, " "); got != want || len(holders(all)) != 1 {
				t.Errorf("%s: got %s, want %s", path, got, want)
			}
		}
		all, err := read(ctx, client, "/latch")
		if err != nil {
			return err
		}
		if err := look(ctx, env, client, "/latch", true, time.Second); err == nil || !strings.Contains(err.Error(), "LeaderLatch") {
			t.Errorf("got %v", err)
		}
		if data, stat, err := client.Get(ctx, all[0].Path); err != nil || string(data) != "a" || stat.Version != 0 {
			t.Errorf("the node was written to: %q, version %d, %v", data, stat.Version, err)
		}
		return nil
	})
}

func inBubble(t *testing.T, do demo.Example) {
	zktest.Bubble(t, func(t *testing.T) {
		if _, err := demo.Output(t.Context(), do); err != nil {
			t.Error(err)
		}
	})
}

func acquire(ctx context.Context, t *testing.T, all ...locks.Lock) {
	t.Helper()
	for _, lock := range all {
		if _, err := lock.Acquire(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// queue lets all of them wait until ctx ends, one behind the other.
func queue(ctx context.Context, all ...locks.Lock) {
	for _, lock := range all {
		go lock.Acquire(ctx)
		synctest.Wait()
	}
}
