// Package listen calls the functions of users who want to hear of something: states of a client, terms of a leader,
// values of a count, and what a recipe of yours reports.
//
// A recipe calls no function of its user on the goroutine that makes the news, nor under a lock: the function may
// block, panic, end its goroutine, or use the recipe. [Listeners] give each function a [Queue] of its own, whose
// goroutine calls it, one call at a time, with every value in order or with the newest alone:
//
//	changes := listen.NewListeners(listen.Every[Change])
//	stop := changes.Add(func(c Change) { _ = client.CatchPanic("a listener of a cache", func() { fn(c) }) })
//	changes.Push(change) // under the mutex that orders the changes
//
// The function that is added must survive a panic of the user's: framework.Client's CatchPanic logs it.
//
// The package stands beside framework/session: it knows neither sessions nor servers, and a recipe cannot reach
// internal packages of the framework.
//
// Curator: ListenerManager.
package listen
