// Package listen calls the functions of users who want to hear of something: states of a client, terms of a leader,
// values of a count, and what a recipe of yours reports.
//
// A function may block, panic, end its goroutine, or use the recipe, so a recipe must not call it on the goroutine that
// makes the news, or under a lock. [Listeners] give each function a [Queue], whose goroutine calls it, one call at a
// time, with every value in order or only the newest:
//
//	changes := listen.NewListeners(listen.Every[Change])
//	stop := changes.Add(func(c Change) { _ = client.CatchPanic("a listener of a cache", func() { fn(c) }) })
//	changes.Push(change) // under the mutex that orders the changes
//
// The function that is added must survive a panic of the user's: framework.Client's CatchPanic logs it.
//
// It knows neither sessions nor servers.
//
// Curator: ListenerManager.
package listen
