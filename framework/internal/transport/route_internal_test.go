package transport

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func addresses(names ...string) []Address {
	all := make([]Address, len(names))
	for i, name := range names {
		all[i] = Address{Server: name, Dial: name}
	}
	return all
}

func TestLimitsOfAnAttempt(t *testing.T) {
	const s, ms = time.Second, time.Millisecond
	for _, c := range []struct {
		session, connection time.Duration
		addresses, failed   int
		attempt, handshake  time.Duration
	}{
		{60 * s, 15 * s, 3, 0, 3750 * ms, 2 * s}, // the defaults, three servers
		{60 * s, 15 * s, 3, 1, 7500 * ms, 4 * s},
		{60 * s, 15 * s, 3, 2, 15 * s, 8 * s},
		{60 * s, 15 * s, 3, 3, 15 * s, 15 * s},
		{60 * s, 15 * s, 3, 1000, 15 * s, 15 * s},
		{60 * s, 15 * s, 1, 0, 7500 * ms, 2 * s},
		{4 * s, 15 * s, 3, 0, s, s},
		{4 * s, 15 * s, 3, 2, 4 * s, 4 * s},
		{4 * s, 15 * s, 3, 9, 15 * s, 15 * s},
		{4 * s, 15 * s, 300, 0, 50 * ms, 50 * ms},
		{4 * s, 15 * s, 300, 1, 100 * ms, 100 * ms},
		{60 * s, 20 * ms, 3, 0, 20 * ms, 20 * ms}, // never longer than an operation waits
		{60 * s, 20 * ms, 3, 5, 20 * ms, 20 * ms},
		{1<<31*ms - ms, 1 << 62, 1, 1000, 1 << 62, 1 << 62},
	} {
		attempt, handshake := limits(c.session, c.connection, c.addresses, c.failed)
		if attempt != c.attempt || handshake != c.handshake {
			t.Errorf("limits(%v, %v, %d, %d) = %v, %v, want %v, %v",
				c.session, c.connection, c.addresses, c.failed, attempt, handshake, c.attempt, c.handshake)
		}
	}
}

func TestTheOrderOfAttempts(t *testing.T) {
	abc := addresses("a", "b", "c")
	for name, c := range map[string]struct {
		before func(r *round)
		all    []Address
		want   string // the next five, and the failed rounds at each
	}{
		"from the start":                 {func(*round) {}, abc, "a0 b0 c0 a1 b1"},
		"one address":                    {func(*round) {}, abc[:1], "a0 a1 a2 a3 a4"},
		"one was left":                   {func(r *round) { r.attached(abc[0]) }, abc, "b0 c0 a0 b1 c1"},
		"the only one was left":          {func(r *round) { r.attached(abc[0]) }, abc[:1], "a0 a1 a2 a3 a4"},
		"attached after failed rounds":   {func(r *round) { r.failed = 9; r.next(abc); r.attached(abc[0]) }, abc, "b0 c0 a0 b1 c1"},
		"two failed before one was left": {func(r *round) { r.next(abc); r.next(abc); r.attached(abc[2]) }, abc, "a0 b0 c0 a1 b1"},
		"one was left, with many names that are gone": {func(r *round) {
			for i := range 2*len(abc) + 64 {
				r.left(addresses(fmt.Sprint(i))[0])
			}
			r.attached(abc[0])
		}, abc, "b0 c0 a0 b1 c1"},
		"a new one is first": {func(r *round) { r.next(abc[:2]); r.next(abc[:2]); r.next(abc[:2]) }, abc, "c1 b1 a2 c2 b2"},
	} {
		t.Run(name, func(t *testing.T) {
			var r round
			c.before(&r)
			var got []string
			for range 5 {
				got = append(got, fmt.Sprintf("%s%d", r.next(c.all).Dial, r.failed))
			}
			if got := fmt.Sprint(got); got != "["+c.want+"]" {
				t.Errorf("tried %s, want %s", got, c.want)
			}
		})
	}
}

// An address that was known refuses quickly; whether its host has another by now takes longer to look up than there is
// time for.
func TestOnlyARoundThatNeededMoreTimeDoublesTheLimits(t *testing.T) {
	for name, c := range map[string]struct {
		inTime bool
		pause  time.Duration   // before each attempt
		want   []time.Duration // limits of the handshake at the next three attempts
	}{
		"quick refusals":             {true, 0, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}},
		"quick refusals, and pauses": {true, time.Minute, []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second}},
		"look-ups that are cut off":  {false, 0, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second}},
	} {
		zktest.Bubble(t, func(t *testing.T) {
			r := NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, func(ctx context.Context, _ string) ([]string, error) {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				return []string{"10.0.0.1"}, nil
			})
			r.limits(time.Minute, time.Minute)
			if _, _, ok := r.next(t.Context()); !ok {
				t.Fatal("got no address, want 10.0.0.1")
			}
			var got []time.Duration
			for range c.want {
				ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Hour))
				if !c.inTime {
					cancel()
					ctx, cancel = context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
				}
				r.began = r.began.Add(-c.pause) // the pause has passed
				r.paused(c.pause)
				if _, _, ok := r.next(ctx); !ok {
					t.Fatal("got no address, want the one that is known")
				}
				cancel()
				_, handshake := r.limits(time.Minute, time.Minute)
				got = append(got, handshake)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: got limits %v, want %v", name, got, c.want)
			}
		})
	}
}

// Whatever happens, each address is tried once in as many attempts as there are addresses, and what is remembered is
// bounded.
func FuzzTheOrderOfAttempts(f *testing.F) {
	f.Add(uint64(1), []byte{0, 0, 0, 1, 0, 2, 0})
	f.Fuzz(func(t *testing.T, seed uint64, steps []byte) {
		random := rand.New(rand.NewPCG(seed, 0))
		var all []Address
		for i := range 1 + random.IntN(5) {
			all = append(all, addresses(fmt.Sprint(i))...)
		}
		var r round
		var last []Address // attempts since the latest end of a connection
		for _, step := range steps {
			random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			switch a := all[0]; step % 8 {
			case 0:
				r.attached(a)
				last = nil
				if r.failed != 0 {
					t.Fatalf("got %d failures after an attachment, want the limits to start again", r.failed)
				}
				if next := r.next(all); len(all) > 1 && next == a {
					t.Fatalf("got %v next, want another than the address that was left", next)
				} else {
					last = append(last, next)
				}
			case 1:
				stranger := addresses(fmt.Sprint("pod", len(last), random.Uint64()))
				r.next(append(stranger, all...))
			default:
				last = append(last, r.next(all))
			}
			if n := len(all); len(last) >= n {
				tried := slices.Clone(last[len(last)-n:])
				slices.SortFunc(tried, func(a, b Address) int { return int(a.Dial[0]) - int(b.Dial[0]) })
				if len(slices.Compact(tried)) != n {
					t.Fatalf("the last %d attempts were at %v", n, last[len(last)-n:])
				}
			}
			if len(r.tried) > 2*(len(all)+1)+64 {
				t.Fatalf("%d addresses are remembered", len(r.tried))
			}
		}
	})
}

func TestRoundsBeginWithAnyServer(t *testing.T) {
	first := map[string]bool{}
	for range 100 {
		r := NewRoute(func(context.Context) []string { return []string{"a", "b", "c"} }, nil)
		a, _, _ := r.next(t.Context())
		first[a.Dial] = true
	}
	if len(first) != 3 {
		t.Errorf("rounds begin with %v only", first)
	}
}

// A look-up may give its answers in another order each time, and with another family first.
func TestAnAddressIsTheSameAtAnyPlaceOfALookup(t *testing.T) {
	ips := []string{"10.0.0.1", "fd::1"}
	r := NewRoute(func(context.Context) []string { return []string{"zk:1"} }, func(context.Context, string) ([]string, error) { return ips, nil })
	first, _, _ := r.next(t.Context())
	second, _, _ := r.next(t.Context())
	r.attached(second)
	slices.Reverse(ips)
	if next, _, _ := r.next(t.Context()); next.Dial != first.Dial {
		t.Errorf("the address that was left, %v, is tried before %v", next, first)
	}
	r.search()
	for range 2 {
		slices.Reverse(ips)
		a, _, _ := r.next(t.Context())
		r.behind(a)
	}
	if got := len(r.round.verdicts); got != 2 {
		t.Errorf("two attempts at two addresses left %d verdicts", got)
	}
}

// A server whose name cannot be looked up cannot be reached, and so is not behind.
func TestAServerThatCannotBeLookedUpCountsAmongTheAddresses(t *testing.T) {
	r := NewRoute(func(context.Context) []string { return []string{"a:1", "b:1", "c:1"} }, func(_ context.Context, host string) ([]string, error) {
		if host != "a" {
			return nil, errors.New("no such host")
		}
		return []string{"10.0.0.1"}, nil
	})
	a, _, ok := r.next(t.Context())
	if !ok || r.behind(a) {
		t.Errorf("got a younger ensemble after one of three servers was asked (address: %t), want no verdict", ok)
	}
}
