// Package framework keeps a connection to a ZooKeeper ensemble alive and makes operations on it reliable: it answers "am I
// connected, is this session still mine, did that operation really happen?" Recipes such as package locks stand on it.
//
// # Use
//
//	client, err := framework.NewClient("zk1:2181,zk2:2181,zk3:2181/app",
//		framework.WithSessionTimeout(5*time.Second),
//		framework.WithRetryPolicy(retry.ExponentialBackoff(time.Second, 3)))
//	if err != nil { … }
//	defer client.Close()
//	data, stat, err := client.Get(ctx, "/config")
//
// # States
//
//	            attached               detached
//	LATENT ───────────────▶ CONNECTED ───────────▶ SUSPENDED ◀──┐
//	                            │                   │     │     │ detached
//	                            │ over         over │     │ attached
//	                            ▼                   │     ▼     │
//	                          LOST ◀────────────────┘  RECONNECTED
//	                            │        ◀──── over ───────┘ ▲
//	                            └──────── attached ──────────┘
//
// "attached" means that a server took the session, "detached" that the connection is gone, "over" that the session is: the
// servers said so, or its timeout has passed since the newest request that was answered was sent. The client then opens a new
// session, and RECONNECTED tells of that one. Listeners hear every change, in order, each on a goroutine of its own.
//
// # Sessions and leases
//
// Everything that must not outlive a session hangs on a [Session]: ephemeral nodes, watches, and [Hold]s. A session has two
// deadlines. It is over when its timeout T has passed since the newest answered frame was sent. A Hold ends earlier, at
// [Session.ValidUntil], at a time before which no server can have given the session's nodes to somebody else:
//
//	ValidUntil = anchor + 0.99 T
//	anchor     = the time at which the newest handshake was sent, or the newest frame whose answer had arrived T/4 before the
//	             newest answered request to the leader (a write or a sync) was sent, whichever is later
//
// Answers to pings and reads do not count by themselves, since a follower that has lost its leader goes on giving them, for
// seconds, while the leader ends the session and lets the next contender in. What the leader answers proves that whatever the
// follower had heard half a tick before has been reported, and half a tick is at most T/4 as long as the servers'
// minSessionTimeout is at least two ticks, its default. While something is held or watched, the client sends a sync whenever
// the leader's last answer is T/4 old; a lease is then valid for about 3/4 T after each. With nothing held or watched it sends
// none. A session that was not renewed in time may live on: its Holds have ended, its nodes stay until they are removed.
//
// Time is taken from a clock that goes on while the machine is suspended. [Hold.Err] compares the time, and so is right at the
// first look after a pause of the process, when timers are late.
//
// Outside this promise are nodes removed by hand, sessions ended by an administrator, and an ensemble restored from a backup.
//
// So is one rare fault of the servers. A leader that has been deposed and has not noticed goes on answering syncs, and takes
// sessions back, by itself. When links simply die, it notices about as soon as its followers do, and no lease outlives its
// lock. But when what it says to them is lost at first, and what they say to it only later, it goes on for as long again as
// they waited (syncLimit); the sessions that its successor knows may be over by then. It stops answering as soon as there is a
// write that nobody confirms, and to end a session is one, so it takes a client that is alone with that leader, and others
// whose sessions are long. [WithQuorumRenewal] closes the gap: the renewal is then a transaction, which a majority has to write
// down, syncs prove nothing, and a handshake becomes an anchor by the first transaction after it.
//
// Measured on real servers by integration/ensemble, with Apache ZooKeeper 3.9.5: seconds from the fault, as median [least ..
// most], and by how much the holder was told before the next one was admitted.
//
//	                                      holder told           next admitted         told first by
//	follower cut off from its leader, 5 s session, ZooKeeper's sample limits, 20 rounds
//	  this library                         3.07 [1.76 .. 3.65]   5.21 [4.64 .. 6.53]   2.13 [1.41 .. 4.77]
//	  this library, just connected         3.95 [3.34 .. 4.53]   5.31 [4.01 .. 7.04]   1.87 [0.42 .. 2.99]
//	  a deadline counted from pings       13.94 [13.2 .. 14.6]   5.26 [4.49 .. 7.04]  -8.42 [-9.4 .. -7.1]
//	deposed leader as above, 2 s session, 4 s of syncLimit, 5 rounds
//	  renewed by sync                      7.63 [6.85 .. 7.81]   6.74 [6.34 .. 6.87]  -0.95 [-1.1 .. -0.1]
//	  with WithQuorumRenewal               1.25 [1.03 .. 1.29]   6.84 [6.66 .. 7.61]   5.63 [5.45 .. 6.32]
//
// Half a tick is no idle caution. Without it (a lease counted from the newest answered sync itself) three of forty holders with
// sessions of two ticks were told up to 0.3 s too late. To keep a lease while a leader is replaced
// that froze or was cut off, and not killed, half of the session timeout must be longer than syncLimit and an election together;
// with 4 s and 2 s most holders lost theirs, wherever they were connected, and were told in time.
//
// # When the connection drops
//
// Operations wait for a connection for at most the connection timeout and are then tried again under the retry policy, within
// one budget each. A create under protection is never executed twice: its node is looked for by its GUID, on a server that has
// caught up. A guaranteed deletion is asked for again on every connection. Watches are set again. Nothing that was asked for in
// one session is executed in the next unless it was asked for by an operation of the [Client] that is still waiting.
//
// # Inside
//
// Under each session lies one connection of [github.com/go-zookeeper/zk], and under that a transport of this library's that sees
// every frame (framework/internal/transport). Answers and watch events are applied in the order of their arrival, by one
// goroutine, to one table per session; everything else looks at the table and is merely woken. There is one further goroutine
// per client, which watches the clock, and one per listener; operations and watches have none.
//
// # Concurrency
//
// Everything exported here is safe for concurrent use unless it says otherwise.
//
// # For readers of Curator
//
// CuratorFrameworkFactory.newClient and start are [NewClient]; listeners are options as well, so that no event is missed.
// Curator's fluent builders are methods with options: create().withMode(m).forPath(p, d) is client.Create(ctx, p, d,
// framework.WithMode(m)). Every method takes a context first. LOST comes at the session's deadline counted from the last good
// contact, where Curator counts from the Disconnected event, which is later.
package framework
