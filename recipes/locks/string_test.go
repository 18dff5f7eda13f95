package locks_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/printtest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

// No exported type of these packages shows a client's credentials, however it is printed. Lock data is no secret: it
// stands in nodes for others to read.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		mutex := p.mutex(locks.WithLockData([]byte("a worker")))
		lease := acquire(t, mutex)
		t.Cleanup(func() { _ = lease.Release() })
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		count := shared.NewSharedCount(p.Client, limitPath, 1)
		must(t, count.Start(t.Context()))
		t.Cleanup(func() { _ = count.Close() })
		all, err := mutex.Participants(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("got %v, %v", all, err)
		}
		_, acquireErr := p.mutex().TryAcquire(t.Context())
		_, dialErr := framework.NewClient(printtest.Credentials+"@zk:2181", framework.WithAuthorization("digest", []byte(printtest.Credentials)))
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{
			"Lease": lease, "InterProcessMutex": mutex, "ReadLock": rw.ReadLock(), "WriteLock": rw.WriteLock(),
			"InterProcessReadWriteLock": rw, "InterProcessMultiLock": locks.NewInterProcessMultiLock(mutex, rw.ReadLock()),
			"InterProcessSemaphoreV2":    locks.NewInterProcessSemaphoreV2WithCount(p.Client, "/s", count),
			"InterProcessSemaphoreMutex": locks.NewInterProcessSemaphoreMutex(p.Client, "/m"),
			"Lock":                       locks.Lock(mutex), "TimedLock": locks.Within(mutex, time.Second), "Option": locks.WithLockData([]byte("a worker")), "Participant": all[0],
			"AcquireError": acquireErr, "LostError": &locks.LostError{Path: path, Session: 1, Reason: dialErr},
			"ReleaseError": &locks.ReleaseError{Path: path, Err: dialErr}, "Trace": locks.Trace{}, "Waiting": locks.Waiting{Path: path},
			"AcquireStart": locks.AcquireStart{Path: path}, "AcquireEnd": locks.AcquireEnd{Path: path, Err: acquireErr},
			"Released": locks.Released{Err: dialErr}, "Lost": locks.Lost{Err: dialErr},
			"RetainedLock": mutex.Retained(), "RetainOption": locks.RetainIdle(time.Second), "RetentionEnded": locks.RetentionEnded{Path: path},
			"RevocationRequested": locks.RevocationRequested{Path: path},
		})
		printtest.WantNoCredentials(t, "../shared", map[string]any{"SharedCount": count, "VersionedValue": count.VersionedValue()})
		gaveUp := retry.Do(t.Context(), retry.NTimes(1, 0), func(context.Context) error { return dialErr })
		if !errors.As(gaveUp, new(*retry.Error)) {
			t.Fatal(gaveUp)
		}
		printtest.WantNoCredentials(t, "../../retry", map[string]any{"Error": gaveUp, "Pace": new(retry.Pace), "Policy": retry.NTimes(1, 0)})
	})
}
