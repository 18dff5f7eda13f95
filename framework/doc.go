// Package framework keeps a connection to a ZooKeeper ensemble alive and makes operations on it reliable: it answers
// "am I connected, is this session still mine, did that operation really happen?" Recipes such as package locks stand
// on it. Everything exported is safe for concurrent use unless it says otherwise.
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
// "attached" means that a server took the session, "detached" that the connection is gone, "over" that the session is:
// the servers said so, or its timeout has passed since the newest answered request was sent. The client then opens a
// new session, and RECONNECTED is that one's. If the servers refuse the client's authentication, LOST is the last
// state, also after LATENT, and [Client.Err] says why. Listeners hear every change, in order, each on a goroutine of
// its own.
//
// # Sessions and leases
//
// Ephemeral nodes, watches and [Binding]s hang on a [Session], and must not outlive it. A session is over when its
// timeout T has passed since the newest answered frame was sent. A Binding ends earlier, at [Session.ValidUntil]. Until
// then, no server can have let another client take over what the session's nodes hold.
// framework/internal/live/lease_clock.go computes it:
//
//	ValidUntil = anchor + 0.99 T
//	anchor     = the later of these: when the newest handshake was sent; when the newest frame was sent whose answer had
//	             arrived by W - T/4
//	W          = when the newest answered write was sent
//
// Answers to pings and reads do not count by themselves: a follower that has lost its leader gives them for seconds,
// while the leader ends the session and lets the next contender in. A write is answered when a majority has written it
// down, at the leader's word. It proves that whatever the follower had heard half a tick before has been reported. Half
// a tick is at most T/4 as long as the servers' minSessionTimeout is at least two ticks, its default; without it, three
// of forty holders with sessions of two ticks heard of their loss up to 0.3 s too late. The handshake that opens a
// session is a write; any other becomes an anchor by the first write after it.
//
// While something is held or waited for, the client sends a write whenever the last one is T/4 old: a transaction that
// checks the root, or the chroot, and changes nothing. A lease is then valid for about 3/4 T after each. The check
// needs no permission: servers also write down, and answer by majority, a transaction that they refuse. While something
// is watched and nothing held, the client sends a sync whenever the leader's last answer is T/4 old, since a server
// that is cut off from its leader reports no change. Otherwise it renews nothing. A session that was not renewed in
// time may live on: its Bindings have ended, its nodes stay until they are removed.
//
// A ping goes ahead of each of these requests unless another request waits for its answer. If nothing at all arrives,
// the client moves on to another server after T/8; after T/3 if something arrived but the answer that counts, if no
// ping went, or if it gave up the last connection in the same way. From the third connection in a row on, each gets
// twice as long as the one before. With nothing held, waited for or watched, the client moves on after 2/3 T.
//
// When answers take long, since disks are slow, the next request is sent somewhat earlier: commits that take T/6 end no
// lease. With commits of more than 0.37 T, a lease can be valid only just after a reconnection, and with 0.99 T never.
// Contenders keep their nodes meanwhile, and get in when commits are quick again.
//
// An answer can also be lost while the connection lives. ZooKeeper answers a ping behind everything that the session
// asked for before it. So once a later ping is answered, the client leaves the connection when a request is 2/3 T old;
// what was not answered is tried again as after any lost connection. Another server may answer pings ahead of other
// requests, and only be slow. So each connection left in this way doubles the limit for that kind of request, until an
// answer comes sooner.
//
// An event can be lost, too. So a node that is watched is read again when the watch has lasted for T, 2T, 4T and so on,
// and at least once in 64 T.
//
// The clock goes on while the machine is suspended. [Binding.Err] compares the time, and so is right at the first look
// after a pause of the process, when timers are late.
//
// Outside this promise are
//
//   - nodes removed by hand, and sessions ended by an administrator;
//   - an ensemble that was wiped, replaced or restored from a backup: it has the nodes and sessions of back then. Locks
//     released since are held again until their sessions end, locks taken since are free, and fencing tokens come
//     again. The admin command restore of 3.9, while clients are connected, also ends each live session within its
//     timeout although the client renews it, and lets newer ones never end (seen on 3.9.5);
//   - servers that lose writes that they have answered. With forceSync=no they do at a loss of power. Releases before
//     3.9.4 can when servers of an ensemble restart: they lack the mends of ZOOKEEPER-4785, 4394 or 4712, and 3.9.3
//     lacks that of 4925. Take 3.9.4 or later; no release of 3.8 has all the mends. After such a loss a holder's node
//     is gone, and the next contender is let in. A lone server also gives the fencing tokens of lost writes again;
//   - guests whose clocks stand still while their host pauses them, for a snapshot or a migration: holds seem valid for
//     as much longer, until a server answers or the connection turns out to be gone. A suspended laptop is none of
//     these: its clock goes on.
//
// Against all of them it helps to let the store refuse the holder: by a check in the same transaction, or by a fencing
// token.
//
// # Servers that are behind
//
// A handshake says up to which transaction the client has seen the data, in earlier sessions as well, and a server that
// is behind hangs up on it. So do all servers of an ensemble that was wiped, restored from an older snapshot or
// replaced. A new session whose handshake was hung up on therefore asks the same server, in a session of its own that
// sees nothing and is closed again, for its newest transaction behind a sync. If that is older than what the client has
// seen, the client tries the next address. Once it has tried all, more than half of them have answered like this and
// none the opposite, it goes on with the younger ensemble: it says so at Warn, and begins anew with what it has seen. A
// server that cannot be reached, or looked up, is not behind. Two ensembles that live at the same time, or one that has
// overtaken the old one, look the same to a client.
//
// If the younger ensemble lacks the chroot of the connect string, operations and waits fail with [ErrNoChroot] within
// the connection timeout; the client connects as soon as the chroot is made. What works in the background, a leader
// latch or a shared count, goes on then.
//
// # Renewal by the leader alone
//
// A leader that has been deposed and has not noticed goes on answering syncs, and takes sessions back, by itself. When
// links die, it notices about as soon as its followers do. When what it says is lost at first, and what they say only
// later, it goes on for as long again as they waited (syncLimit); the sessions that its successor knows may be over by
// then. It stops answering as soon as there is a write that no follower confirms. To end a session is one, so it takes
// a client that is alone with that leader, and others whose sessions are long.
//
// With [WithLeaderRenewal] a sync renews leases all the same, and a handshake is an anchor by itself: a lease may then
// outlive its lock, and the servers have nothing to write. Otherwise each client that holds or waits has them write
// four transactions of some 80 bytes in each T: of 1,000 holders about 1 % of what an ensemble can write if T is 40 s,
// and 7 to 9 % if it is 5 s (integration/renewal). So think of it where many thousand clients hold at a time with short
// sessions, or where the servers' disk is slow and their logs are large already. A longer session timeout costs less as
// well.
//
// # Measured
//
// With ZooKeeper 3.9.5 and sessions of 5 s, a holder whose follower is cut off from its leader knows of its loss 2.13 s
// [1.41 .. 4.77] before the next is admitted. With a deadline counted from pings it would know 8.42 s after that.
// Behind a deposed leader, with sessions of 2 s and a syncLimit of 4 s, it knows 5.63 s before; with WithLeaderRenewal
// 0.95 s after. integration/ensemble has all figures.
//
// To keep a lease while a leader is replaced that froze or was cut off, and not killed, half of the session timeout
// must be longer than syncLimit and an election together; with 4 s and 2 s most holders lost theirs, wherever they were
// connected, and knew in time.
//
// # Which server is tried
//
// Every host of the connect string is looked up at each attempt, and all of its addresses count; see [WithLookup]. The
// client tries the address that it has not tried, or has left, for the longest time. An attempt takes at most min(T,
// connection timeout) divided by the addresses and one, and its handshake two seconds of that. Both double with each
// whole round that failed and lasted so long, up to the connection timeout. A server that answers a reconnection with
// another session has ended the client's; sessions that keep ending before T, or a second, has passed once are opened
// with growing pauses.
//
// # Who the client is
//
// Authentication belongs to the connection, so the client repeats it on each: the TLS certificate ([WithTLS]), then
// ZooKeeper's own handshake, the exchange of [WithSASL], and the pairs of [WithAuthorization] and [Client.AddAuth].
// Requests, watches and pings follow, also at servers that insist on nothing. The session, its nodes and its watches
// outlive a connection, and so a change of credentials that a function gives: a certificate or a password.
//
// # Sizes
//
// A request has at most [DefaultMaxRequest] bytes, as much as servers take by default: a node's data, its path, its ACL
// and a few dozen bytes; or a whole transaction. If the servers' jute.maxbuffer says otherwise, [WithMaxRequest] should
// say the same. A longer request is not sent: the server would close the connection on it, and all others would go down
// with it. An answer has at most [DefaultMaxAnswer] bytes; each name of a listing takes its length and 4 bytes, a lock
// node about 60. [WithMaxAnswer] changes that. A longer answer is read past, not kept. Either fails its own operation
// with [ErrTooLarge], which is not retried, and nothing else.
//
// # When the connection drops
//
// Operations wait for a connection for at most the connection timeout and are then tried again under the retry policy,
// within one budget each. A create under protection leaves one node: that of a try that was not answered is looked for
// by its GUID, on a server that has caught up, and one that a server creates late is removed. A guaranteed deletion is
// asked for again on every connection. Watches are set again. Nothing that was asked for in one session is executed in
// the next unless an operation of the [Client] asked for it that is still waiting.
//
// # Inside
//
// A client opens one session after the other (package framework/session). Under each lies one connection of
// [github.com/go-zookeeper/zk], and under that a transport of this library's that sees every frame
// (framework/internal/transport). One goroutine applies answers and watch events, in the order of their arrival, to one
// table per session; everything else looks at the table and is merely woken. Operations and watches have no goroutine;
// recipes/locks/DESIGN.md lists those that there are. Listeners, traces and the log handler run on their own, outside
// of every lock: one that blocks holds up the calls queued behind it, and nothing else.
//
// # Panics of callbacks
//
// The client survives a panic in a listener, a trace, the log handler, the dialer, the look-up function, the SASL
// mechanism or a function of the TLS configuration: it logs the panic at Error with its stack, and goes on. Without
// [WithLogger] it logs panics, and nothing else, to [slog.Default]. A dialer or a mechanism that panics is a failed
// attempt to connect. An ACL provider and a retry policy run on the operation's goroutine: their panics reach its
// caller.
//
// # For readers of Curator
//
// CuratorFrameworkFactory.newClient and start are [NewClient]; listeners are options as well, so that no event is
// missed. Curator's fluent builders are methods with options: create().withMode(m).forPath(p, d) is client.Create(ctx,
// p, d, framework.WithMode(m)). LOST comes at the session's deadline counted from the last good contact, where Curator
// counts from the Disconnected event, which is later. The tables of examples/porting have every method.
package framework
