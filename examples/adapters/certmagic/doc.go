// Package certmagiclock gives a storage of certmagic, and so of Caddy, Curator's locks in ZooKeeper.
//
//	certmagic.Default.Storage = certmagiclock.New(storage, client, "/certificates/locks")
//
// Certificates stay in the storage that there was, which all processes share; only its locks are replaced. Processes
// that use the storage's own locks are not excluded, so all of them change at the same time.
//
// # What happens on a loss
//
// certmagic has no way to learn that a lock is gone: it finishes what it does, which may be to obtain a certificate
// that another process obtains as well. Two places report the loss. Before each further attempt certmagic asks for
// the lock to be renewed: a lock that was lost is taken again if it is free, and otherwise the attempt fails, and
// certmagic logs that and tries later. Unlock returns the loss, which certmagic logs.
//
// # What to know of certmagic
//
//   - Locks have names, and Unlock has nothing but the name. Two goroutines that want one name take turns: the second
//     one is a contender when the first has called Unlock, also if the first has lost its lock meanwhile.
//   - It keeps the lock of a domain while it waits between attempts, for up to six hours.
//   - It drops the error that says why a lock was not taken into the text of another one: errors.Is finds nothing.
package certmagiclock
