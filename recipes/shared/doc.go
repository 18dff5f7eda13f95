// Package shared has values that processes share through ZooKeeper, as Curator's recipes.shared: at present
// [SharedCount], which the semaphores of package locks take as their limit.
package shared
