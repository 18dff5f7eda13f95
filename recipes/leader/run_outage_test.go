package leader_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

// The function's own outage, as of another ensemble, is no outage of the election: each counts for the retry policy.
func TestOutageThatTheFunctionMetCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		elsewhere := &framework.ConnectError{Cause: errLead}
		terms := 0
		err := newPeer(t, server).selector().Run(t.Context(), func(context.Context) error {
			switch terms++; {
			case terms == 1:
				return nil
			case terms > 2+retries:
				return retry.Permanent(errLead)
			}
			return elsewhere
		})
		wantErr(t, err, elsewhere, retry.ErrExhausted)
		if terms != 2+retries {
			t.Errorf("got %d terms, want one that did not fail and %d", terms, 1+retries)
		}
	})
}

// The leader gives up its term during an outage that is longer than the connection timeout.
func TestReleaseThatNoServerConfirmsIsNoFailure(t *testing.T) {
	for name, fail := range map[string]func(p *peer){
		"a cable that swallows all": func(p *peer) { p.link.Mute() },
		"a cut cable":               func(p *peer) { p.link.Cut() },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, server *zktest.Server) {
				p := newPeer(t, server)
				terms := 0
				err := p.selector().Run(t.Context(), func(context.Context) error {
					if terms++; terms > 2+retries {
						return retry.Permanent(errLead)
					}
					time.Sleep(time.Minute)
					fail(p)
					time.AfterFunc(3*sessionTimeout, p.link.Heal)
					return nil
				})
				wantErr(t, err, errLead)
				if terms != 3+retries {
					t.Errorf("got %v after %d terms, want the error of term %d", err, terms, 3+retries)
				}
			})
		})
	}
}

func TestReleaseThatTheServersRefuseCounts(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		acl := func(perms int32) {
			wantErr(t, server.SetACL(path, zktest.ACL{Perms: perms, Scheme: "world", ID: "anyone"}), nil)
		}
		terms := 0
		err := newPeer(t, server).selector().Run(t.Context(), func(context.Context) error {
			if terms++; terms > 2+retries {
				return retry.Permanent(errLead)
			}
			acl(zk.PermAll &^ zk.PermDelete)
			time.AfterFunc(time.Second, func() { acl(zk.PermAll) })
			return nil
		})
		wantErr(t, err, zk.ErrNoAuth, retry.ErrExhausted)
		if terms != 1+retries {
			t.Errorf("got %d terms, want %d", terms, 1+retries)
		}
		time.Sleep(time.Minute) // the last removal is asked for again
		wantNodes(t, server, 0)
	})
}
