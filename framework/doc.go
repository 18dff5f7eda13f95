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
