// Package differential has a random script of raw requests executed by zktest and by a real ZooKeeper, and compares every
// answer, field and event.
package differential
