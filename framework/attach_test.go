package framework_test

import "testing"

type attachKey struct{}

func TestFacadesOfAClientShareWhatIsAttached(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		first := w.Client.Attach(attachKey{}, func() any { return new(int) })
		if got := w.Client.UsingNamespace("app").Attach(attachKey{}, nil); got != first {
			t.Errorf("a facade of the same client: got %v, want %v", got, first)
		}
		if got := w.Dial("zk:2181").Attach(attachKey{}, nil); got != nil {
			t.Errorf("another client has %v attached, want nil", got)
		}
	})
}
