// Package porttest has three programs on [cache.CuratorCache], each in the shape of a well-known one that stands on
// Curator's caches, and runs them under faults:
//
//   - a [Registry] of many small directories, as Dubbo has: who offers a service, in full lists that follow;
//   - an [Inventory] of hosts, and of what each host has, as Druid has: a listener waits for another cache;
//   - a [TokenStore], as Hadoop has: memory that begins with what is there, follows from then on without a gap, and
//     removes by the data of what is gone.
//
// [Run] has several processes of each change the servers and follow them, while connections are cut, sessions end, and
// the server restarts. When that is over, each process must have what the servers have.
package porttest
