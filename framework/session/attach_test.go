package session_test

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
)

type key struct{}

func TestAnAttachmentIsMadeOnceForEachKey(t *testing.T) {
	var a session.Attachments
	if got := a.Attach(key{}, nil); got != nil {
		t.Errorf("got %v before anything was attached, want nil", got)
	}
	first := a.Attach(key{}, func() any { return new(int) })
	if got := a.Attach(key{}, func() any { t.Error("got a second value made for a key, want the first"); return nil }); got != first {
		t.Errorf("got %p, want %p", got, first)
	}
	if got := a.Attach(key{}, nil); got != first {
		t.Errorf("looking: got %p, want %p", got, first)
	}
	if got := a.Attach("another", func() any { return new(int) }); got == first {
		t.Errorf("got %p for two keys, want two values", got)
	}
}

func TestAllWhoAttachAtOneTimeGetOneValue(t *testing.T) {
	var a session.Attachments
	var wg sync.WaitGroup
	got := make([]any, 8)
	for i := range got {
		wg.Go(func() { got[i] = a.Attach(key{}, func() any { return new(int) }) })
	}
	wg.Wait()
	for _, value := range got {
		if value != got[0] {
			t.Fatalf("got %v, want one value", got)
		}
	}
}

func TestMakingAnAttachmentMayAttach(t *testing.T) {
	var a session.Attachments
	outer := a.Attach(key{}, func() any { return a.Attach("inner", func() any { return new(int) }) })
	if inner := a.Attach("inner", nil); inner != outer {
		t.Errorf("got %v, want %v", inner, outer)
	}
}

type attachKey struct{}

func TestWhatIsAttachedToASessionGoesWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *clienttest.Env) {
		old := w.Session()
		first := old.Attach(attachKey{}, func() any { return new(int) })
		if got := old.Attach(attachKey{}, nil); got != first {
			t.Errorf("the same session: got %v, want %v", got, first)
		}
		w.Server.ExpireSession(old.ID())
		<-old.Done()
		if got := w.Session().Attach(attachKey{}, nil); got != nil {
			t.Errorf("the next session has %v attached, want nil", got)
		}
	})
}
