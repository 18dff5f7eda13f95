// Package zktest is a ZooKeeper server in memory, for tests and demos, in the
// manner of net/http/httptest. It needs nothing but Go, speaks ZooKeeper's
// wire protocol, and is ready as soon as [NewServer] returns:
//
//	srv := zktest.NewServer()
//	defer srv.Close()
//	conn, events, err := zk.Connect([]string{"any:2181"}, 10*time.Second, zk.WithDialer(srv.Dial))
//
// In a test, [New] also closes the server and reports clients that were left
// open.
//
// # Connections
//
// [Server.Dial] and [Server.DialContext] make connections in memory; they
// have the shapes of go-zookeeper's Dialer and of [net.Dialer.DialContext].
// [Server.Addr] opens a TCP listener on loopback, for clients in any language;
// [Server.Serve] serves on any other. examples/testserver is a program of this
// server, for tests that are not written in Go.
//
// # Time
//
// In a testing/synctest bubble, with connections in memory, hours of session
// life take milliseconds and latencies are exact. Make the server, its clients
// and its faults inside the bubble, and close them all before it ends. [Bubble]
// is such a bubble with a watchdog: a test that hangs in it fails by its name.
// Outside a bubble time is real, and package await waits in it. Two things that happen at the same instant happen in
// either order; give them different times if the order matters.
//
// # Faults
//
// Faults of the server are methods of [Server]: [Server.DropReply],
// [Server.SwallowReply], [Server.DropRequest], [Server.ThrottleRequest],
// [Server.DelayReply], [Server.HoldRequest] and [Server.Stall] concern one request,
// picked by a [Match], [Server.DropEvent] one event and [Server.DropEvents] many;
// [Server.Freeze], [Server.CutAll], [Server.Restart] and [Server.RefuseConnections] the whole server,
// [Server.SetSessionTimeouts] the sessions that it grants;
// [Server.ExpireSession] and [Server.CutSession] one session. Faults of one
// client's network are methods of its [Link]: latency, silence, resets.
// An [Ensemble] is several servers on the same data, one of which may lag
// behind the leader, lose it, or take its place.
//
// # What it looks like from inside
//
// [Server.Stat], [Server.Children], [Server.ListWatches], [Server.Sessions],
// [Server.Counts], [Server.CountRequests] and others show what the server has and
// was asked, and [Server.Observe] shows each request at the moment at which it is
// executed. [Link.MostUnderWay] measures how many clients have under way at one time.
// [Server.ObserveTransactions] shows what requests, ends of sessions and the
// server itself have changed. Package examples/zklock/txnlog reads the same from a real
// server's logs.
//
// # How true it is
//
// Random scripts of requests are executed by this server and by ZooKeeper 3.9.5
// and 3.8.6, 100 000 requests at a time, and answered exactly the same: errors
// and the order in which they are checked, zxids, every field of a Stat, events
// and their order, also where a request is broken. [WithVersion] chooses the
// release. Sessions end when the real server's would: at the first tick after
// their timeout. Curator and kazoo do their work on it.
// What differs on purpose:
//
//   - children are listed in no order, but in the same one in each run; the
//     ephemeral nodes of a session that ends go sorted;
//   - what kills a real server is refused, such as a createTTL with the flags of
//     another kind of node and an impossible ttl;
//   - the tick is 100 ms, the longest session an hour, and empty containers are
//     removed after a second; options set other values;
//   - creations are never under way together, unless WithCommitTime is given,
//     which shows where sequence numbers end;
//   - there are TTL nodes (WithTTLNodes) and all four-letter words without
//     having to be configured.
//
// # What it is not
//
// It keeps nothing on disk, elects no leader by itself, and knows neither TLS, dynamic
// reconfiguration nor limits on the number of connections; of SASL it knows DIGEST-MD5 ([WithSASL]). It is no measure
// of ZooKeeper's speed, and no place for data that anybody wants back. Code that is to be trusted with a real ensemble
// has to be tested on a real ensemble too.
package zktest
