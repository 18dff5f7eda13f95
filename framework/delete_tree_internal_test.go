package framework

import "testing"

func TestATreeThatIsToBeRemovedIsQueuedOnce(t *testing.T) {
	var r treeRemovals
	for i, want := range []bool{true, false, false} {
		if got := r.add([]string{"/a", "/a", "/b"}[i]); got != want {
			t.Errorf("add %d: got start %v, want %v", i, got, want)
		}
	}
	if got := r.next(); got != "/b" {
		t.Errorf("got %q, want /b", got)
	}
	if got := r.next(); got != "" {
		t.Errorf("got %q, want no more", got)
	}
	r.running.Done()
	r.close()
	if r.add("/c") {
		t.Error("got a removal started after close, want it refused")
	}
}
