// Bench compares lock clients side by side: this library, Java Curator, go-zookeeper's zk.Lock, kazoo, etcd, redsync and
// redislock, each on a server of its own kind, in one run on one machine.
package main
