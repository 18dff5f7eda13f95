// Package framework keeps a connection to a ZooKeeper ensemble alive and makes operations on it reliable: it answers
// "am I connected, is this session still mine, did that operation really happen?" Recipes such as packages locks
// and cache stand on it. Everything exported is safe for concurrent use unless it says otherwise.
//
//	client, err := framework.NewClient("zk1:2181,zk2:2181,zk3:2181/app",
//		framework.WithSessionTimeout(5*time.Second),
//		framework.WithRetryPolicy(retry.ExponentialBackoff(time.Second, 3)))
//	if err != nil { … }
//	defer client.Close()
//	data, stat, err := client.Get(ctx, "/config")
//
// A [Client] opens one session after the other until it is closed. Its [State] is LATENT before the first connection,
// then CONNECTED; SUSPENDED without a connection; RECONNECTED on the next one; and LOST when the session is over.
//
// # Sessions and leases
//
// Ephemeral nodes, watches and [session.Binding]s, such as a lock's lease, belong to a [Session]. The servers end a
// session when they have heard nothing from its client for the session timeout T. A client that is cut off cannot learn
// that, so it goes by its own clock: its session is over when T has passed since it sent the newest request that was
// answered, and its leases end earlier, at [Session.ValidUntil]. While the client holds or waits for something it
// renews leases every T/4. So a lease has at least about T/2 left while the connection lasts, and outlasts an outage
// that is shorter.
//
// # When the connection drops
//
// Operations wait for a connection for at most the connection timeout and are then tried again under the retry policy,
// within one budget each. A create under protection leaves one node: that of a try that was not answered is looked for
// by its GUID, on a server that has caught up, and one that a server creates late is removed. A guaranteed deletion is
// asked for again on every connection. Watches are set again. Nothing that was asked for in one session is executed in
// the next unless an operation of the [Client] asked for it that is still waiting.
//
// # What is promised, and what is not
//
// A lease ends before any server lets the next contender in, also behind a server that is cut off from its leader, and
// behind a leader that was deposed. [Binding.Err] is right at the first look after a pause of the process. No client
// can stop a holder that does not look: let the store refuse a late one, by a check in the same transaction or by a
// fencing token. That also helps against what is outside this promise: nodes and sessions that an administrator
// removes, ensembles that are wiped or restored, servers that lose writes that they have answered (releases before
// 3.9.4 can), servers that shorten a session unheard, guests whose clocks stand still, and [WithSyncRenewal]. The
// reasons, and what was measured: framework/session/LEASES.md.
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
// A request has at most 1 MiB less one byte, as much as servers take by default: a node's data, its path, its ACL
// and a few dozen bytes; or a whole transaction. If the servers' jute.maxbuffer says otherwise, [WithMaxRequest] should
// say the same. A longer request is not sent: the server would close the connection on it, and all others would go down
// with it. An answer has at most 16 MiB; each name of a listing takes its length and 4 bytes, a lock
// node about 60. [WithMaxResponse] changes that. A longer answer is read past, not kept. Either fails its own operation
// with [ErrTooLarge], which is not retried, and nothing else.
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
