// Package lockstest has the guarantees of package locks as laws: one suite that every recipe has to pass, on every kind of
// ZooKeeper.
package lockstest
