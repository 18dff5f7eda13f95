package counters

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/retry"
)

// racesBeforeLock is how many races an Add loses before it queues.
const racesBeforeLock = 3

type number interface{ int32 | int64 }

// A counter is a number in a node. It has no state.
type counter[T number] struct {
	client *framework.Client
	path   string
	mutex  *locks.InterProcessMutex // nil without WithLock
	err    error                    // misuse of the constructor
}

var errNotMade = errors.New("counters: a counter comes from its constructor")

// misuse is the error of a counter that cannot be used.
func (c *counter[T]) misuse() error {
	if c.err == nil && c.client == nil {
		return errNotMade
	}
	return c.err
}

func (c *counter[T]) get(ctx context.Context) (T, error) {
	_, value, err := c.read(ctx)
	return value, err
}

func (c *counter[T]) add(ctx context.Context, delta T) (before, after T, err error) {
	place := place{mutex: c.mutex}
	defer place.leave()
	var pace retry.Pace
	for lost := 0; ; {
		if c.mutex != nil && lost >= racesBeforeLock && !place.held() {
			if err := place.enter(ctx); err != nil {
				return 0, 0, err
			}
			pace = retry.Pace{} // those behind wait for this one
		}
		began := time.Now()
		seen, value, err := c.read(ctx)
		if err != nil {
			return 0, 0, err
		}
		if seen.missing() {
			// Not with delta: nothing shows whose a creation was that has lost its answer. Who makes a zero does not
			// matter.
			_, _, err := c.client.Create(ctx, c.path, encode(T(0)), framework.CreatingParentContainersIfNeeded())
			if err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return 0, 0, err
			}
		} else {
			outcome, err := c.write(ctx, "add", seen, encode(value+delta))
			if err != nil {
				return 0, 0, err
			}
			if outcome == written {
				return value, value + delta, nil
			}
			lost++
		}
		if err := pace.Wait(ctx, time.Since(began)); err != nil {
			return 0, 0, fmt.Errorf("counters: add at %q: %w", c.path, err)
		}
	}
}

func (c *counter[T]) compareAndSet(ctx context.Context, old, value T) (bool, error) {
	seen, present, err := c.read(ctx)
	if err != nil || seen.missing() || present != old {
		return false, err
	}
	outcome, err := c.write(ctx, "compare and set", seen, encode(value))
	return outcome == written, err
}

func (c *counter[T]) set(ctx context.Context, value T) error {
	if err := c.misuse(); err != nil {
		return err
	}
	_, err := c.client.Set(ctx, c.path, encode(value), -1)
	if errors.Is(err, zk.ErrNoNode) {
		_, _, err = c.client.Create(ctx, c.path, encode(value), framework.OrSetData(-1), framework.CreatingParentContainersIfNeeded())
	}
	return err
}

func (c *counter[T]) initialize(ctx context.Context, value T) (bool, error) {
	if err := c.misuse(); err != nil {
		return false, err
	}
	outcome, err := c.write(ctx, "initialize", node{version: missing}, encode(value))
	if errors.Is(err, zk.ErrNoNode) && !errors.Is(err, ErrUnknown) {
		if err := c.makeParent(ctx, err); err != nil {
			return false, err
		}
		outcome, err = c.write(ctx, "initialize", node{version: missing}, encode(value))
	}
	return outcome == written, err
}

// read returns the node, and its number.
func (c *counter[T]) read(ctx context.Context) (node, T, error) {
	if err := c.misuse(); err != nil {
		return node{}, 0, err
	}
	seen, err := look(ctx, c.client, c.path)
	if err != nil {
		return node{}, 0, err
	}
	value, ok := decode[T](seen.data)
	if !ok {
		return node{}, 0, fmt.Errorf("%w: %q has %d bytes, want %d or none", ErrNotACounter, c.path, len(seen.data), binary.Size(value))
	}
	return seen, value, nil
}

func encode[T number](value T) []byte {
	all := binary.BigEndian.AppendUint64(nil, uint64(value))
	return all[len(all)-binary.Size(value):]
}

// decode returns the number of a node's data, unless they have a wrong length.
func decode[T number](data []byte) (value T, ok bool) {
	if len(data) != 0 && len(data) != binary.Size(value) {
		return 0, false
	}
	var bits uint64
	for _, b := range data {
		bits = bits<<8 | uint64(b)
	}
	return T(bits), true
}
