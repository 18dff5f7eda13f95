package session_test

import (
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/session"
)

type key struct{}

func TestAnAttachmentIsMadeOnceForEachKey(t *testing.T) {
	var a session.Attachments
	if got := a.Attach(key{}, nil); got != nil {
		t.Errorf("got %v before anything was attached, want nil", got)
	}
	first := a.Attach(key{}, func() any { return new(int) })
	if got := a.Attach(key{}, func() any { t.Error("made again"); return nil }); got != first {
		t.Errorf("got %p, want %p", got, first)
	}
	if got := a.Attach(key{}, nil); got != first {
		t.Errorf("looking: got %p, want %p", got, first)
	}
	if got := a.Attach("another", func() any { return new(int) }); got == first {
		t.Error("two keys have one value")
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
