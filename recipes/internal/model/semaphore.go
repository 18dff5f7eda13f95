package model

import "slices"

// permit decides about a lease by a listing later than its node: recipes/locks/batch.go.
func (w *world) permit(by int8, names []name) {
	k, i := &w.all[by], w.owner[by]
	c := &w.clients[i]
	if !slices.Contains(names, k.me) {
		w.restart(by)
		return
	}
	if over := w.markers.Count(w.texts(names)) - int(c.limit); over <= 0 {
		k.phase = admitted
		return
	}
	first := k.phase != waiting
	k.phase = waiting
	for _, x := range []int8{by, by - 1} {
		if w.all[x].self == none {
			w.all[x].self = set
			w.subscribe(i, w.all[x].me)
		}
	}
	if first {
		w.watchAhead(by, leaseName)
		if j := c.find(leaseName); c.watches[j].as == set && slices.Contains(c.leases, k.me) {
			w.lookAtLeases(i)
		}
	}
}

// lookAtLeases is a new decision about the leases that wait: the leases or the limit have changed.
func (w *world) lookAtLeases(i int8) {
	for _, by := range w.subscribers(i) {
		k := &w.all[by]
		if w.kinds[by] != Lease || k.phase != waiting {
			continue
		}
		if slices.Contains(w.clients[i].leases, k.me) {
			w.permit(by, w.clients[i].leases)
		} else {
			w.list(by)
		}
	}
}
