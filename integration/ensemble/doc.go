// Ensemble starts real ZooKeeper servers on loopback, prints the connect string, and takes orders on standard input: to
// kill servers, to freeze them, to cut the links between them.
//
//	go run -C integration ./ensemble -n 3
//
// It needs java, and the jars that integration/run collects. It ends, and all servers with it, at the end of its input
// or when it is interrupted. "help" prints the orders.
//
// # Tests
//
// The tests play what can happen to an ensemble that zookeeper.StartEnsemble starts. Above all, a holder that loses its
// lock must know it before the next contender is let in.
//
//	CURATOR_INTEGRATION=required go test -C integration ./ensemble -v                     # everything, once
//	CURATOR_INTEGRATION=required go test -C integration ./ensemble -v -rounds 20 \
//		-run CutOffKnowsFirst -parallel 1 -timeout 1h                                 # the table below
//	CURATOR_INTEGRATION=required go test -C integration ./ensemble -v -run Many -holders 1000
//	ZOOKEEPER_VERSION=3.8.6 integration/run --no-lint ./integration/ensemble           # other servers
//
// Java Curator and kazoo take part where integration/run has collected them.
//
// # A follower that is cut off from its leader
//
// Three servers with ZooKeeper's sample limits (a tick of 2 s, a syncLimit of 5), sessions of 5 s. The holder's client
// knows one follower; the next contender is connected to the leader. Then the links between these two servers go
// silent. Seconds after that, of 20 rounds, as median [least .. most]; ZooKeeper 3.9.5,
// Curator 5.9.0, two busy processors:
//
//	                               holder knew            second admitted        knew first by (below 0: two holders)
//	this library, in steady state   3.07 [1.76 ..  3.65]   5.21 [4.64 .. 6.53]    2.13 [ 1.41 ..  4.77]
//	this library, just connected    3.95 [3.34 ..  4.53]   5.31 [4.01 .. 7.04]    1.87 [ 0.42 ..  2.99]
//	go-zookeeper zk.Lock            9.83 [9.07 .. 10.10]   5.26 [4.49 .. 7.04]   -4.50 [-5.42 .. -2.88]
//	Java Curator                    9.93 [9.17 .. 10.28]   5.32 [4.64 .. 7.13]   -4.45 [-5.03 .. -2.83]
//	kazoo                           9.83 [9.07 .. 10.12]   5.26 [4.51 .. 7.04]   -4.48 [-5.41 .. -2.88]
//	a deadline counted from pings  13.94 [13.2 ..  14.6]   5.26 [4.49 .. 7.04]   -8.42 [-9.38 .. -7.09]
//
// In other rounds a holder that had just connected knew 0.19 s before. The rule promises a hundredth of the session
// timeout, 0.05 s here.
//
// The other libraries hear of it when the follower gives up and closes its connections: SUSPENDED, Disconnected. The
// last line is a lease that ends one session timeout after the newest answered ping was sent, computed from the pings
// of zk.Lock's connection.
//
// # A new leader
//
// The leader of three is killed -9, 20 times; six clients with sessions of 15 s, one of which holds and five of which
// wait. The next leader serves after 0.29 to 1.15 s. From then on, the median client needs 0.09 s until it is
// RECONNECTED on a connection that lasts, the worst 0.84 s; go-zookeeper alone 0.70 s and 0.89 s. No client makes more
// than 11 attempts in a second. No client loses its place.
//
// # A leader that has been deposed
//
// See framework/session/LEASES.md: what the leader says is lost at first, what it hears 3.4 s later; syncLimit 4 s,
// sessions of 2 s. Of 5 rounds, the holder knows 5.63 s [5.45 .. 6.32] before the second is admitted; with
// framework.WithSyncRenewal 0.95 s [0.11 .. 1.05] after that.
//
// # A session that is shortened unheard
//
// One of three servers grants 4 s, the others 16 s, with ticks of 0.2 s. Of 20 rounds, the holder knows 0.82 s [0.70 ..
// 1.99] before the second is admitted if it asks for 4 s, 0.83 s [0.62 .. 1.48] if it was granted 4 s before, and 11.12
// s [10.24 .. 11.26] after if it was granted 16 s only. In a rolling restart it knows 3.54 s [1.40 ..
// 3.97] before if it asks for 4 s, and 6.39 s [6.24 .. 6.46] after if it asks for 16 s.
//
// # Cost
//
// The server counts three requests of an idle client in a session timeout, go-zookeeper's pings, and eleven of one that
// holds or waits, four of them renewals and four the pings that go with those; a client that has released its lock is
// idle. One server with 1,000 clients that hold locks of their own, sessions of 10 s: 702 requests a second before the
// pings were added, a twelfth of one of these processors; all the clients together take less.
package main
