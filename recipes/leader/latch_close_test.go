package leader_test

import (
	"errors"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

func TestCloseAfterATermThatTheProgramReleasedReturnsNoError(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		first, second := start(t, newPeer(t, server).latch()), start(t, newPeer(t, server).latch())
		wantErr(t, awaitTerm(t, first).Release(), nil)
		awaitTerm(t, second) // the first waits behind it
		wantErr(t, first.Close())
	})
}

func TestCloseThatFailedReturnsNilWhenItIsRepeated(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server)
		l := start(t, p.latch())
		awaitTerm(t, l)
		p.link.Mute()
		var unconfirmed *locks.ReleaseError
		if err := l.Close(); !errors.As(err, &unconfirmed) {
			t.Errorf("got %v of a server that is silent, want a *locks.ReleaseError", err)
		}
		wantErr(t, l.Close())
	})
}
