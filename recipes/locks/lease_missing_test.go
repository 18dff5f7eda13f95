package locks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gocurator/curator/recipes/locks"
)

// A caller that ignores the error of an Acquire has a nil Lease.
func TestALeaseThatNoAcquireReturnedHoldsNothingAndSaysSo(t *testing.T) {
	for name, lease := range map[string]*locks.Lease{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			const want = "locks: there is no lease: no Acquire returned it"
			ctx := lease.Context(t.Context())
			isClosed(t, "its context", ctx.Done()) // before a look at its Err, which would end it
			_, dataErr := lease.Data(t.Context())
			for call, err := range map[string]error{
				"Err": lease.Err(), "Release": lease.Release(), "the second Release": lease.Release(), "Data": dataErr,
				"the context's cause": context.Cause(ctx), "ReleaseAll": locks.ReleaseAll(lease),
			} {
				if err == nil || err.Error() != want {
					t.Errorf("%s: got %v, want %s", call, err, want)
				}
			}
			isClosed(t, "the lease", lease.Done())
			isOpen(t, "RevocationRequested", lease.RevocationRequested())
			isOpen(t, "Contended", lease.Contended())
			if !lease.ValidUntil().IsZero() || lease.Path() != "" || lease.NodeName() != "" || lease.FencingToken() != 0 ||
				lease.FencingCount() != 0 || lease.Parts() != nil {
				t.Errorf("got %v, %q, %q, %d, %d, %v, want zero values", lease.ValidUntil(), lease.Path(), lease.NodeName(),
					lease.FencingToken(), lease.FencingCount(), lease.Parts())
			}
			_ = lease.Check() // its transaction fails
		})
	}
}

func TestALockThatNoConstructorMadeIsRefused(t *testing.T) {
	for name, lock := range map[string]locks.Lock{
		"InterProcessMutex": &locks.InterProcessMutex{}, "ReadLock": &locks.ReadLock{}, "WriteLock": &locks.WriteLock{},
		"the side of an InterProcessReadWriteLock": (&locks.InterProcessReadWriteLock{}).ReadLock(),
		"InterProcessSemaphoreV2":                  &locks.InterProcessSemaphoreV2{},
		"InterProcessSemaphoreMutex":               &locks.InterProcessSemaphoreMutex{},
		"InterProcessMultiLock":                    &locks.InterProcessMultiLock{},
		"RetainedLock":                             &locks.RetainedLock{},
		"a retained lock of an InterProcessMutex":  (&locks.InterProcessMutex{}).Retained(),
		"Within": locks.Within(&locks.InterProcessMutex{}, 1),
	} {
		t.Run(name, func(t *testing.T) {
			const want = "no constructor of this package made the lock"
			_, acquireErr := lock.Acquire(t.Context())
			_, tryErr := lock.TryAcquire(t.Context())
			calls := map[string]error{"Acquire": acquireErr, "TryAcquire": tryErr}
			if l, ok := lock.(interface {
				Participants(ctx context.Context) ([]locks.Participant, error)
			}); ok {
				_, calls["Participants"] = l.Participants(t.Context())
			}
			for call, err := range calls {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got %v, want an error with %q", call, err, want)
				}
			}
			if l, ok := lock.(interface{ IsAcquiredInThisProcess() bool }); ok && l.IsAcquiredInThisProcess() {
				t.Error("IsAcquiredInThisProcess: got true, want false")
			}
			if l, ok := lock.(interface {
				IsOwnedBy(ctx context.Context) bool
			}); ok && l.IsOwnedBy(t.Context()) {
				t.Error("IsOwnedBy: got true, want false")
			}
			_ = locks.NewInterProcessMultiLock(lock) // its calls fail
		})
	}
}
