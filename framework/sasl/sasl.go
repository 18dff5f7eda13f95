// Package sasl is what the client needs of a SASL mechanism (RFC 4422). Package saslmd5 has DIGEST-MD5; Kerberos and
// others are a [Mechanism] of one's own.
//
// A mechanism is user code. The client calls it on goroutines of its own, outside of every lock, and survives its
// panics: it logs them at Error with their stack, and takes them for failed attempts to connect.
package sasl

import (
	"context"
	"crypto/tls"
	"net"
)

// A Mechanism starts an exchange on each connection, reconnections included: authentication belongs to a connection,
// not to a session. It must be safe for concurrent use.
type Mechanism interface {
	// Name is the mechanism's, such as "GSSAPI". It stands in errors; ZooKeeper does not send it.
	Name() string
	// Start begins an exchange with one server, and gets the credentials, so that they may change between connections.
	// ctx bounds the whole exchange, the calls of Step included: it ends after the connection timeout, or a third of
	// the session timeout if that is shorter, and when the client is closed. Start and Step should return then. If they
	// do not, the client goes on without them. An error is a failed attempt to connect, and the next server is tried.
	Start(ctx context.Context, server Server) (Exchange, error)
}

// An Exchange is the client's side of one authentication. It is used by one goroutine at a time, and dropped
// afterwards.
type Exchange interface {
	// Step gets the server's token, and returns the next one for the server. The first challenge is empty. A challenge
	// of nil means that the server answered without a token: with GSSAPI it has finished, with other mechanisms it has
	// no SASL configured, which it does not say in any other way. So done must not be taken from that unless the
	// mechanism says so.
	//
	// When done is true, the exchange has succeeded, and nothing more is sent. The challenge is overwritten after the
	// call.
	Step(challenge []byte) (response []byte, done bool, err error)
}

// A Server is what a mechanism may need to know of the server.
type Server struct {
	// Host is the server's as in the connect string, for service principals, without a dot at its end.
	Host string
	// Addr is the address that the connection goes to.
	Addr net.Addr
	// TLS is the connection's, and nil without TLS.
	TLS *tls.ConnectionState
}
