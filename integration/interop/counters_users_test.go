//go:build linux

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/counters"
)

// A numberUser calls a number in one language.
type numberUser struct {
	call  func(step numberStep) string                  // the value after the call, "done", "no", "unknown", or "error"
	count func(times int) (values []int64, unknown int) // increments; the values after each, but for unknown ones
}

// numberKinds are the numbers that both languages have.
var numberKinds = []struct {
	recipe      string
	least, most int64
	ours        func(w *world, client *framework.Client, path string, opts ...counters.Option) numberUser
}{
	{"atomiclong", math.MinInt64, math.MaxInt64, func(w *world, client *framework.Client, path string, opts ...counters.Option) numberUser {
		return ourNumber(w, counters.NewDistributedAtomicLong(client, path, opts...))
	}},
	{"atomicinteger", math.MinInt32, math.MaxInt32, func(w *world, client *framework.Client, path string, opts ...counters.Option) numberUser {
		return ourNumber(w, counters.NewDistributedAtomicInteger(client, path, opts...))
	}},
}

// theirNumber is a number of Curator, which takes a lock after three tries if it has the lock's path, or of kazoo.
func theirNumber(c *client, recipe, path, lock string) numberUser {
	c.world.t.Helper()
	k := c.contender(godriver.Order{Recipe: recipe, Path: path, Count: lock})
	return numberUser{
		call: func(step numberStep) string {
			a := <-k.process.Order(k.number(step.op, step.old, step.value))
			if a.Error != "" {
				return outcomeOf(nil, false, errors.New(a.Error))
			}
			if step.op == "setvalue" || step.op == "initialize" {
				return outcomeOf("done", a.OK, nil)
			}
			return outcomeOf(a.Value, a.OK, nil)
		},
		count: func(times int) ([]int64, int) {
			order := k.order("work")
			order.Times = times
			a := c.world.done(k.process, order)
			fmt.Fprintf(c.world.t.Output(), "%s: %d of %d increments took the lock\n", k.who, a.Value, times)
			return a.Values, 0
		},
	}
}

// number is an order that concerns a number.
func (k *contender) number(op string, old, value int64) godriver.Order {
	o := k.order(op)
	o.Old, o.Value = old, value
	return o
}

// A distributedAtomic is what DistributedAtomicLong and DistributedAtomicInteger have in common.
type distributedAtomic[N int32 | int64] interface {
	Get(ctx context.Context) (N, error)
	Add(ctx context.Context, delta N) (before, after N, err error)
	CompareAndSet(ctx context.Context, old, now N) (bool, error)
	Set(ctx context.Context, v N) error
	Initialize(ctx context.Context, v N) (bool, error)
}

func ourNumber[N int32 | int64](w *world, n distributedAtomic[N]) numberUser {
	return numberUser{
		call: func(step numberStep) string {
			ctx, cancel := await.Context(w.t.Context(), w.t, patience, step.op+" of our number")
			defer cancel()
			old, value, result, ok := N(step.old), N(step.value), any("done"), true
			var err error
			switch step.op {
			case "value":
				result, err = n.Get(ctx)
			case "add":
				_, result, err = n.Add(ctx, value)
			case "compareandset":
				ok, err = n.CompareAndSet(ctx, old, value)
				result = value
			case "setvalue":
				err = n.Set(ctx, value)
			case "initialize":
				ok, err = n.Initialize(ctx, value)
			}
			return outcomeOf(result, ok, err)
		},
		count: func(times int) (values []int64, unknown int) {
			ctx, cancel := await.Context(w.t.Context(), w.t, patience, "our number to count")
			defer cancel()
			for range times {
				before, after, err := n.Add(ctx, 1)
				switch {
				case errors.Is(err, counters.ErrUnknown):
					unknown++
				case err != nil || after != before+1:
					w.t.Errorf("add 1: got %d, %d, %v, want one more", before, after, err)
				default:
					values = append(values, int64(after))
				}
			}
			return values, unknown
		},
	}
}

func outcomeOf(result any, ok bool, err error) string {
	switch {
	case errors.Is(err, counters.ErrUnknown):
		return "unknown"
	case err != nil:
		return "error"
	case !ok:
		return "no"
	default:
		return fmt.Sprint(result)
	}
}
