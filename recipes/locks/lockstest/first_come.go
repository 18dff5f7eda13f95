package lockstest

import "testing"

func firstCome() []law {
	return []law{
		{name: "G3 first come, first served/clients", run: clientsAreServedAsTheyCame},
		{name: "G3 first come, first served/goroutines of one client", run: goroutinesAreServedAsTheyCame},
	}
}

func clientsAreServedAsTheyCame(t testing.TB, w *world) {
	holder := w.client()
	servedInOrder(t, holder, w.clients(6))
}

func goroutinesAreServedAsTheyCame(t testing.TB, w *world) {
	c := w.client()
	servedInOrder(t, c, []*contact{c, c, c, c, c, c})
}

// servedInOrder lets contenders queue one after the other, and checks that none is let in before those that came
// before. Where several may hold the lock at once, none of them releases before the last has come.
func servedInOrder(t testing.TB, holder *contact, contenders []*contact) {
	held := holder.fill()
	var line []*attempt
	for _, c := range contenders {
		line = append(line, c.queue())
	}
	held.release(t)
	if holder.w.recipe.Capacity != 1 {
		for _, a := range line { // those who may hold it together come in together, or as there is room
			if err := a.get().Release(); err != nil {
				t.Error(err)
			}
		}
		return
	}
	for i, a := range line {
		lease := a.get()
		for _, behind := range line[i+1:] {
			behind.isWaiting()
		}
		if err := lease.Release(); err != nil {
			t.Error(err)
		}
	}
}
