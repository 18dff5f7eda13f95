package session_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/session"
)

type attached struct{ _ int } // not of size 0, or two might have one address

func TestAnAttachmentIsMadeOnceForEachType(t *testing.T) {
	var a session.Attachments
	if got := session.Attach[*attached](&a, nil); got != nil {
		t.Errorf("got %v before anything was attached, want nil", got)
	}
	first := session.Attach(&a, func() *attached { return &attached{} })
	second := func() *attached { t.Error("got a second value made, want the first"); return nil }
	if got := session.Attach(&a, second); got != first {
		t.Errorf("got %p, want %p", got, first)
	}
	if got := session.Attach[*attached](&a, nil); got != first {
		t.Errorf("looking: got %p, want %p", got, first)
	}
	if got := session.Attach[attached](&a, nil); got != (attached{}) {
		t.Errorf("another type: got %v, want the zero value", got)
	}
}

// A value is no other's because it has its methods.
func TestAnAttachmentOfAnInterfaceIsItsOwn(t *testing.T) {
	var a session.Attachments
	session.Attach(&a, func() *name { return new(name) })
	if got := session.Attach[fmt.Stringer](&a, nil); got != nil {
		t.Errorf("got %v, want nil", got)
	}
	want := name("it")
	if got := session.Attach[fmt.Stringer](&a, func() fmt.Stringer { return want }); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := session.Attach[fmt.Stringer](&a, nil); got != want {
		t.Errorf("looking: got %v, want %v", got, want)
	}
}

type name string

func (n name) String() string { return string(n) }

func TestAllWhoAttachAtOneTimeGetOneValue(t *testing.T) {
	var a session.Attachments
	var wg sync.WaitGroup
	got := make([]*attached, 8)
	for i := range got {
		wg.Go(func() { got[i] = session.Attach(&a, func() *attached { return &attached{} }) })
	}
	wg.Wait()
	for _, value := range got {
		if value != got[0] || value == nil {
			t.Fatalf("got %v, want one value", got)
		}
	}
}

func TestAValueThatIsMadeTooLateIsDropped(t *testing.T) {
	var a session.Attachments
	var first *attached
	got := session.Attach(&a, func() *attached {
		first = session.Attach(&a, func() *attached { return &attached{} }) // another goroutine, in effect
		return &attached{}
	})
	if got != first {
		t.Errorf("got %p, want the first value %p", got, first)
	}
}

func TestMakingAnAttachmentMayAttach(t *testing.T) {
	var a session.Attachments
	var inner *attached
	outer := session.Attach(&a, func() **attached {
		inner = session.Attach(&a, func() *attached { return &attached{} })
		return &inner
	})
	if got := session.Attach[*attached](&a, nil); got != *outer || got == nil {
		t.Errorf("got %p, want %p", got, *outer)
	}
}

func TestWhatIsAttachedToASessionGoesWithIt(t *testing.T) {
	bubble(t, func(t *testing.T, w *clienttest.Env) {
		old := w.Session()
		first := session.Attach(old.Attachments(), func() *attached { return &attached{} })
		if got := session.Attach[*attached](old.Attachments(), nil); got != first {
			t.Errorf("the same session: got %p, want %p", got, first)
		}
		w.Server.ExpireSession(old.ID())
		<-old.Done()
		if got := session.Attach[*attached](w.Session().Attachments(), nil); got != nil {
			t.Errorf("the next session has %p attached, want nil", got)
		}
	})
}
