package framework_test

import (
	"testing"

	"github.com/gocurator/curator/framework/session"
)

type attached struct{ _ int }

func TestFacadesOfAClientShareWhatIsAttached(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		first := session.Attach(w.Client.Attachments(), func() *attached { return &attached{} })
		if got := session.Attach[*attached](w.Client.UsingNamespace("app").Attachments(), nil); got != first {
			t.Errorf("a facade of the same client: got %p, want %p", got, first)
		}
		if got := session.Attach[*attached](w.Dial("zk:2181").Attachments(), nil); got != nil {
			t.Errorf("another client has %p attached, want nil", got)
		}
	})
}
