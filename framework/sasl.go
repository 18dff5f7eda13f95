package framework

import (
	"cmp"
	"context"

	"github.com/gocurator/curator/framework/sasl"
)

// WithSASL proves by a SASL mechanism who the client is, on every connection before anything else. Package saslmd5 has
// DIGEST-MD5.
//
// A refusal by the server is final when a session is opened: [Client.Err] is [ErrAuthRefused], and so are all
// operations. On a reconnection the client tries other servers, with the credentials that the mechanism gives then,
// until the session is over; leases live on until their ValidUntil. After any other failure, of the mechanism, of a
// server without SASL or of the connection, the client tries the next server.
//
// An exchange takes at most the connection timeout, and a third of the session timeout. A mechanism that panics or does
// not return by then has failed; see [sasl.Mechanism].
//
// Curator: the section Client of the JAAS file.
func WithSASL(mechanism sasl.Mechanism) Option {
	return func(c *config) {
		c.refuse(mechanism == nil, "SASL mechanism is nil")
		c.sasl = mechanism
	}
}

// guardSASL turns panics in a mechanism into failed attempts.
func (c *core) guardSASL(m sasl.Mechanism) sasl.Mechanism {
	if m == nil {
		return nil
	}
	return &guardedMechanism{c, m}
}

type guardedMechanism struct {
	core      *core
	mechanism sasl.Mechanism
}

// Name is asked for when an exchange has failed.
func (g *guardedMechanism) Name() (name string) {
	if g.core.catchPanic("the SASL mechanism", func() { name = g.mechanism.Name() }) != nil {
		return "mechanism"
	}
	return name
}

func (g *guardedMechanism) Start(ctx context.Context, server sasl.Server) (x sasl.Exchange, err error) {
	panicked := g.core.catchPanic("the SASL mechanism", func() { x, err = g.mechanism.Start(ctx, server) })
	if err = cmp.Or(panicked, err); err != nil || x == nil {
		return nil, err
	}
	return &guardedExchange{g.core, x}, nil
}

type guardedExchange struct {
	core     *core
	exchange sasl.Exchange
}

func (g *guardedExchange) Step(challenge []byte) (response []byte, done bool, err error) {
	panicked := g.core.catchPanic("the SASL mechanism", func() { response, done, err = g.exchange.Step(challenge) })
	return response, done, cmp.Or(panicked, err)
}
