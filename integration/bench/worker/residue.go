package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gocurator/curator/integration/bench/job"
	"github.com/gocurator/curator/integration/bench/stats"
)

const (
	// Contexts end after a time between these, or sooner if the client is so quick that few would end.
	shortest, longest = 50 * time.Microsecond, 300 * time.Microsecond

	// enough is how often a lock is tried at most for each context that should end.
	enough = 30

	// batch is how many locks are tried before they are looked at.
	batch = 20

	// settle is how long what an acquire left may take to go. It is less than any lock lasts that is not renewed.
	settle = time.Second
)

// A lookout sees what is left of a lock.
type lookout interface {
	client
	left(ctx context.Context, path string) (bool, error)
}

// MeasureResidue ends the contexts of acquires, each of a lock of its own, until so many have ended. While they wait,
// another client may hold the locks. Afterwards that client looks whether they are free, for a second at most. The
// client whose contexts end stays connected until all is looked at.
//
// Contexts end after 50 to 300 µs; of a client that takes less than 200 µs to acquire, after a quarter of that to one
// and a half times that. If few contexts end first in spite of that, it returns what there is.
func MeasureResidue(ctx context.Context, j job.Job, ends int, contended bool) (r stats.Residue, err error) {
	j.Workers = batch
	var both [2]lookout
	for i := range both {
		c, err := dialers[j.Impl](ctx, j)
		if err != nil {
			return r, err
		}
		defer c.close() //nolint:gocritic // both stay connected until the end
		look, ok := c.(lookout)
		if !ok {
			return r, fmt.Errorf("what %s leaves cannot be looked at", j.Impl)
		}
		both[i] = look
	}
	m := residues{impatient: both[0], patient: both[1], contended: contended}
	if m.usual, err = usually(ctx, both[0], j.Path); err != nil {
		return r, err
	}
	for tried := 0; m.Ended < ends && tried < enough*ends; tried += batch {
		if err := m.batch(ctx, fmt.Sprintf("%s/%d", j.Path, tried)); err != nil {
			return m.Residue, err
		}
	}
	return m.Residue, nil
}

type residues struct {
	stats.Residue

	impatient, patient lookout
	contended          bool
	usual              time.Duration // what an acquire takes
}

// usually returns how long a client's acquire takes whose context does not end.
func usually(ctx context.Context, c client, path string) (time.Duration, error) {
	var took []float64
	for i := range 2 * batch {
		lock, err := c.lock(ctx, job.Mutex, fmt.Sprintf("%s/usual-%d", path, i%4), 0)
		if err != nil {
			return 0, err
		}
		begun := time.Now()
		release, err := lock.read(ctx)
		if err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(begun)))
		if err := release(ctx); err != nil {
			return 0, err
		}
	}
	return time.Duration(stats.Median(took)), nil
}

// limits are the least and the most that a context lasts.
func limits(usual time.Duration) (least, most time.Duration) {
	return min(shortest, usual/4), min(longest, usual*3/2)
}

// batch tries some locks and looks at those whose contexts ended.
func (m *residues) batch(ctx context.Context, prefix string) error {
	locks := make([]acquire, batch)
	paths := make([]string, batch)
	for i := range batch {
		paths[i] = fmt.Sprintf("%s-%d", prefix, i)
		lock, err := m.impatient.lock(ctx, job.Mutex, paths[i], 0)
		if err != nil {
			return err
		}
		locks[i] = lock.read
	}
	free, err := m.hold(ctx, paths)
	if err != nil {
		return err
	}
	var ended []string
	for i, lock := range locks {
		before := m.Ended
		if err := m.try(ctx, lock); err != nil {
			return err
		}
		if m.Ended > before {
			ended = append(ended, paths[i])
		}
	}
	if err := free(ctx); err != nil {
		return err
	}
	left, err := m.look(ctx, ended)
	m.Left += left
	return err
}

// hold takes each lock once, so that none is new when contexts end. It returns what releases those that it still holds:
// all of them if they are to be contended.
func (m *residues) hold(ctx context.Context, paths []string) (free func(context.Context) error, err error) {
	var releases []func(context.Context) error
	free = func(ctx context.Context) error {
		for _, release := range releases {
			if err := release(ctx); err != nil {
				return err
			}
		}
		releases = nil
		return nil
	}
	for _, path := range paths {
		lock, err := m.patient.lock(ctx, job.Mutex, path, 0)
		if err != nil {
			return nil, err
		}
		release, err := lock.read(ctx)
		if err != nil {
			return nil, err
		}
		releases = append(releases, release)
	}
	if !m.contended {
		err = free(ctx)
	}
	return free, err
}

// try acquires with a context that ends soon.
func (m *residues) try(ctx context.Context, lock acquire) error {
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	least, most := limits(m.usual)
	go func() {
		// A timer would be late by up to a millisecond where nothing else goes on.
		begun, after := time.Now(), least+rand.N(most-least)
		for time.Since(begun) < after && short.Err() == nil {
		}
		cancel()
	}()
	release, err := lock(short)
	switch {
	case err == nil:
		m.Acquired++
		return release(ctx)
	case short.Err() == nil:
		return err
	}
	m.Ended++
	return nil
}

// look counts the locks that are not free after a second.
func (m *residues) look(ctx context.Context, paths []string) (int, error) {
	for begun := time.Now(); ; {
		late := time.Since(begun) > settle
		var left []string
		for _, path := range paths {
			found, err := m.patient.left(ctx, path)
			if err != nil {
				return 0, err
			}
			if found {
				left = append(left, path)
			}
		}
		if paths = left; late || len(paths) == 0 {
			return len(paths), ctx.Err()
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
