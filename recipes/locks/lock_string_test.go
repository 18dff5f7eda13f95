package locks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestEveryLockPrintsItsKindAndPath(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		mutex := locks.NewInterProcessMutex(p.Client, "/m")
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		for want, lock := range map[string]any{
			`mutex "/m"`:                                 mutex,
			`read/write lock "/rw"`:                      rw,
			`read lock "/rw"`:                            rw.ReadLock(),
			`write lock "/rw"`:                           rw.WriteLock(),
			`semaphore "/s"`:                             locks.NewInterProcessSemaphoreV2(p.Client, "/s", 2),
			`semaphore mutex "/sm"`:                      locks.NewInterProcessSemaphoreMutex(p.Client, "/sm"),
			`multi-lock of [mutex "/m" read lock "/rw"]`: locks.NewInterProcessMultiLock(mutex, rw.ReadLock()),
			`mutex "/m" within 1s`:                       locks.Within(mutex, time.Second),
		} {
			for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
				if got := fmt.Sprintf(verb, lock); got != want {
					t.Errorf("%s: got %s, want %s", verb, got, want)
				}
			}
		}
	})
}
