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
package transport
