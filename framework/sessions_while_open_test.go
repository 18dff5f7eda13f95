package framework_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
)

// While no server can be reached, and none has been, the loop waits, and nothing is reported.
func TestSessionsWhileOpenWaitsOutEveryOutage(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181")
		w.Link.Cut()
		reasons := 0
		var opened []int64
		go func() {
			for s, err := range client.SessionsWhileOpen(t.Context(), func(error) { reasons++ }) {
				if err != nil {
					wantErr(t, err, framework.ErrClosed)
					return
				}
				opened = append(opened, s.ID())
				<-s.Done()
			}
		}()
		for n := range 3 {
			time.Sleep(10 * time.Minute)
			synctest.Wait()
			if len(opened) != n {
				t.Errorf("got %d sessions after %d outages of ten minutes, want one after each", len(opened), n)
			}
			w.Link.Heal()
			time.Sleep(time.Minute)
			w.Link.Cut()
		}
		synctest.Wait()
		if len(opened) != 3 || len(slices.Compact(opened)) != 3 || reasons > 0 {
			t.Errorf("got sessions %#x and %d reasons, want 3 sessions and no reason", opened, reasons)
		}
		_ = client.Close()
		synctest.Wait()
	})
}

func TestSessionsWhileOpenOutlastsAMissingChroot(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/app")
		client := w.Dial("zk:2181/app")
		var reasons []error
		opened := 0
		end := make(chan error, 1)
		go func() {
			for s, err := range client.SessionsWhileOpen(t.Context(), func(reason error) { reasons = append(reasons, reason) }) {
				if err != nil {
					end <- err
					return
				}
				if opened++; opened == 1 {
					wantErr(t, w.Server.Delete("/app"))
					w.Server.ExpireSession(s.ID())
				}
				<-s.Done()
			}
		}()
		time.Sleep(5*clienttest.ConnectionTimeout + time.Second)
		synctest.Wait()
		if len(reasons) != 5 || opened != 1 {
			t.Errorf("got %d reasons and %d sessions in five connection timeouts, want 5 and 1", len(reasons), opened)
		}
		for _, reason := range reasons {
			wantErr(t, reason, framework.ErrNoChroot)
		}
		w.Make("/app")
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(reasons) != 5 || opened != 2 {
			t.Errorf("got %d reasons and %d sessions with the chroot, want 5 and 2", len(reasons), opened)
		}
		_ = client.Close()
		wantErr(t, <-end, framework.ErrClosed)
	})
}

// It ends for these reasons alone, and at once.
func TestSessionsWhileOpenEndsWithTheClientAndWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		opt  framework.Option
		end  func(client *framework.Client, stop func())
		want error
	}{
		"closed":  {framework.WithNamespace("n"), func(client *framework.Client, _ func()) { _ = client.Close() }, framework.ErrClosed},
		"refused": {framework.WithAuthorization("kerberos", []byte("x")), func(*framework.Client, func()) {}, framework.ErrAuthRefused},
		"ctx":     {framework.WithNamespace("n"), func(_ *framework.Client, stop func()) { stop() }, context.Canceled},
	} {
		// The end comes at a connection timeout, whose error must not hide it. Which of the two is seen is chance.
		for _, where := range slices.Concat([]string{"/"}, slices.Repeat([]string{"/no/such"}, 20)) {
			bubble(t, func(t *testing.T, w *env) {
				client := w.Dial("zk:2181"+where, c.opt)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				end := make(chan error, 1)
				go func() {
					for s, err := range client.SessionsWhileOpen(ctx, nil) {
						if err != nil {
							end <- err
							return
						}
						select {
						case <-s.Done():
						case <-ctx.Done():
						}
					}
				}()
				time.Sleep(4 * clienttest.ConnectionTimeout)
				began := time.Now()
				c.end(client, stop)
				synctest.Wait()
				if took := time.Since(began); took != 0 {
					t.Errorf("%s, chroot %s: the loop ended after %v", name, where, took)
				}
				select {
				case err := <-end:
					wantErr(t, err, c.want)
				default:
					t.Errorf("%s, chroot %s: the loop goes on, want its end", name, where)
				}
			})
		}
	}
}

// A connection timeout of nothing is a mistake that costs no processor: rounds without a session pause as others do.
func TestSessionsWhileOpenPausesBetweenRoundsWithoutASession(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181/app", framework.WithConnectionTimeout(time.Nanosecond))
		var rounds atomic.Int32
		go func() {
			for range client.SessionsWhileOpen(t.Context(), func(error) { rounds.Add(1) }) {
				return
			}
		}()
		time.Sleep(time.Minute)
		if n := rounds.Load(); n > 150 {
			t.Errorf("got %d rounds in a minute, want about one in a second", n)
		}
		_ = client.Close() // no server answers within a nanosecond
	})
}
