package cache_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
)

// What Start, Synced, Err, Sync, the events and the log say while a part of the tree cannot be had, and when it can
// again.
func TestACacheThatLacksAPartIsNotSyncedUntilItHasIt(t *testing.T) {
	type change func(server *zktest.Server)
	grow := func(dirs ...string) change { // a listing becomes longer than an answer
		return func(server *zktest.Server) {
			for i := range 90 * len(dirs) {
				_ = server.Create(fmt.Sprintf("%s/%0100d", dirs[i/90], i), nil)
			}
		}
	}
	shrink := func(dirs ...string) change {
		return func(server *zktest.Server) {
			for i := range 90 * len(dirs) {
				if i%10 > 0 {
					_ = server.Delete(fmt.Sprintf("%s/%0100d", dirs[i/90], i))
				}
			}
		}
	}
	set := func(path string, n int) change {
		return func(server *zktest.Server) { _ = server.SetData(path, []byte(strings.Repeat("x", n))) }
	}
	permit := func(perms int32) change {
		return func(server *zktest.Server) {
			_ = server.SetData("/t", nil) // unreadable, it causes no event
			_ = server.SetACL("/t", zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"})
		}
	}
	forbid, allow := permit(zk.PermAll&^zk.PermRead), permit(zk.PermAll)
	for name, test := range map[string]struct {
		spoil, mend change
		want        error
		text        string
		option      cache.Option
		within      time.Duration
	}{
		"listing":                {grow("/t/a"), shrink("/t/a"), framework.ErrTooLarge, `the children of "/t/a"`, cache.WithReadAgain(time.Hour), time.Minute},
		"listing, not again":     {grow("/t/a"), shrink("/t/a"), framework.ErrTooLarge, `the children of "/t/a"`, cache.WithReadAgain(0), time.Minute},
		"root's listing":         {grow("/t"), shrink("/t"), framework.ErrTooLarge, `the children of "/t"`, cache.WithDepth(2), time.Minute},
		"listings":               {grow("/t/a", "/t/c", "/t/d"), shrink("/t/a", "/t/c", "/t/d"), framework.ErrTooLarge, `the children of "/t/a"`, cache.WithDepth(2), time.Minute},
		"data":                   {set("/t/a", 5<<10), set("/t/a", 5), framework.ErrTooLarge, `"/t/a"`, cache.WithDepth(2), time.Minute},
		"root's data":            {set("/t", 5<<10), set("/t", 5), framework.ErrTooLarge, `"/t"`, cache.WithDepth(2), time.Minute},
		"permission":             {forbid, allow, zk.ErrNoAuth, `"/t"`, cache.WithDepth(2), time.Minute},
		"permission, stats":      {forbid, allow, zk.ErrNoAuth, `"/t"`, cache.WithoutData(), time.Minute},
		"permission, soon again": {forbid, allow, zk.ErrNoAuth, `"/t"`, cache.WithReadAgain(time.Second), time.Second},
	} {
		for _, version := range bothSources {
			t.Run(name+" "+version, func(t *testing.T) {
				inBubble(t, func(t *testing.T, server *zktest.Server) {
					for _, path := range []string{"/t", "/t/a", "/t/a/b", "/t/c", "/t/d", "/t/e"} {
						makeNode(t, server, path, "")
					}
					var log warnings
					logger := slog.New(slog.NewTextHandler(&log, nil))
					client, link := newClient(t, server, framework.WithMaxResponse(4<<10), framework.WithLogger(logger))
					c := start(t, client, "/t", test.option)
					e := subscribe(c)
					want := func(who string, err error) {
						t.Helper()
						if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
							t.Errorf("%s: got %v, want %v of %s", who, err, test.want, test.text)
						}
					}
					wantSynced := func(want bool) { // and that Synced comes after all that it is about
						t.Helper()
						synctest.Wait()
						e.mu.Lock()
						defer e.mu.Unlock()
						last := e.heard[len(e.heard)-1] == cache.Synced.String()
						if c.Synced() != want || e.synced != want || last != want {
							t.Errorf("got synced %v, events %q, want %v", c.Synced(), e.heard, want)
						}
					}
					for round := range 2 {
						if cut := round == 0 || !strings.HasSuffix(name, "data"); cut { // otherwise an event reports it
							link.Cut()
							set("/t/a/b", round+1)(server)
						}
						test.spoil(server)
						link.Heal()
						time.Sleep(5 * time.Second)
						want("Err", c.Err())
						want("Sync", c.Sync(t.Context()))
						want("Start of another one", cache.NewCuratorCache(client, "/t", test.option).Start(t.Context()))
						wantSynced(false)
						beside := fmt.Sprint("/t/e/", round)
						makeNode(t, server, beside, "")
						time.Sleep(5 * time.Minute)
						if _, found := c.Get(beside); !found && !strings.HasSuffix(test.text, `"/t"`) {
							t.Errorf("got no %s, want what is beside the part that is missing", beside)
						}
						test.mend(server)
						time.Sleep(test.within + 100*time.Millisecond)
						wantSynced(true)
						if err := c.Err(); err != nil || c.Stats().Unreadable+c.Stats().Found > 0 {
							t.Errorf("got %v, %+v after %v, want it complete, and nothing found", err, c.Stats(), test.within)
						}
						what := view{root: "/t", keep: all, noData: strings.HasSuffix(name, "stats")}
						what.wantEqual(t, server, c, e)
						if began, over := log.count("left out"), log.count("can be read again"); began != round+1 || over != round+1 {
							t.Errorf("logged the beginning %d times, the end %d times, want %d: %s", began, over, round+1, log.log.String())
						}
						makeNode(t, server, fmt.Sprint("/t/a/", round), "")
						if err := c.Sync(t.Context()); err != nil {
							t.Error(err)
						}
						what.wantEqual(t, server, c, nil) // by events
					}
				}, zktest.WithVersion(version))
			})
		}
	}
}

func TestWhatACacheLacksLaterIsReadAgainWithTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		for _, path := range []string{"/t", "/t/a", "/t/b"} {
			makeNode(t, server, path, "")
		}
		client, _ := newClient(t, server, framework.WithMaxResponse(4<<10))
		c := start(t, client, "/t")
		for left := range 2 { // how many can still not be listed
			for i := range 180 {
				_ = server.Create(fmt.Sprintf("/t/%c/%0100d", 'a'+i/90, i), nil)
				time.Sleep(10 * time.Millisecond)
			}
			for i := 90 * left; i < 180; i++ {
				_ = server.Delete(fmt.Sprintf("/t/%c/%0100d", 'a'+i/90, i))
			}
			if time.Sleep(time.Minute); c.Stats().Unreadable != left || c.Synced() != (left == 0) {
				t.Errorf("got %d and %v after a minute, want %d that cannot be listed", c.Stats().Unreadable, c.Err(), left)
			}
		}
	}, zktest.WithVersion("3.5"))
}

func TestAPartThatACacheStillLacksHoldsUpNoOther(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		makeNode(t, server, "/t", "")
		client, _ := newClient(t, server, framework.WithMaxResponse(4<<10))
		c := start(t, client, "/t")
		for i := range 270 {
			_ = server.Create(fmt.Sprintf("/t/%c", 'a'+i/90), nil)
			_ = server.Create(fmt.Sprintf("/t/%c/%0100d", 'a'+i/90, i), nil)
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(3 * time.Minute)
		for left := 269; left >= 0; left-- {
			_ = server.Delete(fmt.Sprintf("/t/%c/%0100d", 'a'+left/90, left))
			if left%90 > 0 {
				continue
			}
			time.Sleep(time.Minute)
			if got, want := c.Stats(), left/90; got.Unreadable != want || got.Readings != 1 || c.Synced() != (want == 0) {
				t.Errorf("got %+v and synced %v a minute after another part can be listed, want %d left, and one reading", got, c.Synced(), want)
			}
		}
	}, zktest.WithVersion("3.5"))
}

func TestAPartThatCanBeReadJustAsItIsReadAgainWasNotMissed(t *testing.T) {
	for _, version := range bothSources {
		inBubble(t, func(t *testing.T, server *zktest.Server) {
			for _, path := range []string{"/t", "/t/a", "/t/a/b"} {
				makeNode(t, server, path, "")
			}
			var log warnings
			client, _ := newClient(t, server, framework.WithMaxResponse(4<<10), log.option())
			c := start(t, client, "/t")
			setNode(t, server, "/t/a", strings.Repeat("x", 5<<10))
			synctest.Wait()
			defer server.Observe(func(request zktest.Request) {
				if data, _ := server.Data("/t/a"); len(data) > 0 && request.Op == zktest.OpGetData && request.Path == "/t/a" {
					_ = server.SetData("/t/a", nil)
				}
			})()
			time.Sleep(time.Minute + time.Second)
			if got := c.Stats(); got.Found > 0 || log.count("no event") > 0 || c.Len() != 3 || !c.Synced() {
				t.Errorf("version %s: got %+v and synced %v, want 3 nodes, and nothing that an event has not reported: %s", version, got, c.Synced(), log.log.String())
			}
		}, zktest.WithVersion(version))
	}
}
