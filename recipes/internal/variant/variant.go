// Package variant lets a recipe that stands above locks have a queue of its own in a mutex: with another marker in the
// names of its nodes. Programs outside of this module cannot ask for one, and package locks exports nothing for it.
package variant

// A Variant is a mutex with a marker of its own: only nodes with that marker count, and nothing asks their holders to
// leave.
type Variant struct {
	Marker string
	// Waiting is called when a contender has a node and begins to wait, if it is not nil. It must not block.
	Waiting func()
	// Ended is called when a lease has ended, before its node is removed, if it is not nil. It must not block: it may
	// hold up the end of other leases.
	Ended func()
}

// Option makes an option of a mutex that sets the variant. O is locks.Option, a function that takes the settings of a
// lock; their type S, which is not exported, is found by the compiler.
func Option[O ~func(S), S interface{ SetVariant(variant Variant) }](v Variant) O {
	return func(settings S) { settings.SetVariant(v) }
}
