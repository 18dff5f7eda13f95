package shared

import "testing"

// The goroutine that read the value may come to apply it after the follower has seen a newer one. Versions do not
// decide: a new node begins with version 0 again.
func TestOnlyAValueOfALaterTransactionIsTaken(t *testing.T) {
	known := VersionedValue{Zxid: 10, Version: 3, Value: 7}
	for name, c := range map[string]struct{ next, want VersionedValue }{
		"changed":                            {VersionedValue{11, 4, 8}, VersionedValue{11, 4, 8}},
		"an older one that was read late":    {VersionedValue{9, 2, 6}, known},
		"an older node's, of higher version": {VersionedValue{9, 5, 6}, known},
		"a new node":                         {VersionedValue{12, 0, 1}, VersionedValue{12, 0, 1}},
		"a new node, of the same version":    {VersionedValue{12, 3, 1}, VersionedValue{12, 3, 1}},
		"the same":                           {known, known},
	} {
		count := NewSharedCount(nil, "/count", 0)
		count.apply(known)
		<-count.waiter.News()
		count.apply(c.next)
		if got := count.VersionedValue(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		if told := len(count.waiter.News()) == 1; told != (c.want != known) {
			t.Errorf("%s: the follower was woken: %v, want %v", name, told, c.want != known)
		}
	}
}

func TestAfterARestartOfTheEnsembleTheNextValueIsTaken(t *testing.T) {
	count := NewSharedCount(nil, "/count", 0)
	count.apply(VersionedValue{Zxid: 10, Version: 3, Value: 7})
	count.restart(1)
	count.restart(1) // Confirm's, before the value has come
	count.apply(VersionedValue{Zxid: 2, Version: 0, Value: 1})
	count.restart(1) // the next session at the same ensemble
	count.apply(VersionedValue{Zxid: 1, Version: 0, Value: 9})
	if got := count.Count(); got != 1 {
		t.Errorf("got %d, want the first value of the younger ensemble", got)
	}
}
