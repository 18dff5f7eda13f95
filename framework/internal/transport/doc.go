// Package transport is one ZooKeeper session's way to the servers: a [github.com/go-zookeeper/zk.Conn], and under it a
// net.Conn of ours that sees every frame in both directions.
//
// go-zookeeper dials, shakes hands, pings, notices silence and reconnects. The requests are sent from here, between its
// pings on the same connection, because a lock needs of each of them what go-zookeeper's calls do not give: an end
// under a context, the Stat of what was created, a create and a listing in one segment, watches that can be taken back,
// the time at which the frame was written. A [Call] is completed in the order in which the answers arrived, by the
// goroutine that reads the connection, and so are watch events. A table of what the server said therefore
// sees one history, not a race between channels.
//
// go-zookeeper writes each frame with exactly one Write, and reads a length and then that many bytes; the package
// relies on nothing else about its inside. Below it the package also mends what cannot be mended from outside:
//
//   - the time at which each answered frame was sent, which is what a lease is counted from;
//   - no watch is kept by go-zookeeper, so none leaks, and none is lost by its re-registration after a reconnection;
//   - a failed write closes the socket and is not reported, since a reported one can wedge go-zookeeper for ever;
//   - a handshake is bounded in time and in length, an answer in length;
//   - a connection is given up before the next is dialed, and none is dialed after Close;
//   - a dialer that does not heed its context, and a socket that takes long to close, hold up nothing;
//   - an expired session stays expired: go-zookeeper would silently open a new one, under requests made for the old,
//     and go on in one that a server has opened instead of the session that was asked for;
//   - the highest zxid seen goes with the handshake of the next session, so that no server that is behind takes it;
//   - authentication is sent as the first frame of every connection, ahead of whatever needs it;
//   - Close never waits for a server that does not answer.
//
// # Questions
//
// What a server may answer by closing the connection it is asked on a second one, which has a session of its own and is
// closed again: how far its data goes (below), and whether it takes watches of trees (question_tree.go).
//
// # Which server is tried
//
// Each attempt looks every host up, and leaves late answers to the next one; all addresses of a host count. See
// framework.WithLookup. The client tries the address that it has not tried, or has left, for the longest time. An
// attempt takes at most min(T, connection timeout) divided by the addresses and one, and its handshake two seconds of
// that. Both double with each whole round that failed and lasted so long, up to the connection timeout. A server that
// answers a reconnection with another session has ended the client's; sessions that keep ending before T, or a second,
// has passed once are opened with growing pauses.
//
// # Servers that are behind
//
// A handshake says up to which transaction the client has seen the data, in earlier sessions as well, and a server that
// is behind hangs up on it, like one that does not serve. So do all servers of an ensemble that was wiped, restored
// from an older snapshot or replaced. A new session whose handshake was hung up on therefore asks the same server, in a
// session of its own that sees nothing and is closed again, for its newest transaction behind a sync. If that is older
// than what the client has seen, this may be a stray server, or one side of a list that is half moved: the client tries
// the next address. Once it has tried all, more than half of them have answered like this and none the opposite, it
// goes on with the younger ensemble: it says so at Warn, and starts over with what it has seen. A server that cannot be
// reached, or looked up, is not behind. Two ensembles that live at the same time, or one that has overtaken the old
// one, look the same to a client.
//
// If the younger ensemble lacks the chroot of the connect string, operations and waits fail with framework.ErrNoChroot
// within the connection timeout; the client connects as soon as the chroot is made. What works in the background, a
// leader latch or a shared count, goes on then.
package transport
