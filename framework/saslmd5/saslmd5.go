// Package saslmd5 authenticates by SASL DIGEST-MD5 (RFC 2831), as ZooKeeper's DigestLoginModule wants it:
//
//	framework.WithSASL(saslmd5.New("bob", func(context.Context) (string, error) {
//		return os.Getenv("ZOOKEEPER_PASSWORD"), nil
//	}))
//
// The server knows its users from the section Server of its JAAS file, and their ACLs are of scheme sasl: sasl:bob.
// Releases after 3.9.5 have no DIGEST-MD5 in FIPS mode, which is on by default: -Dzookeeper.fips-mode=false switches it
// off.
//
// The mechanism keeps the password from those who listen, and nothing else: neither requests nor the session's own
// password are protected, and MD5 is obsolete. Use it under TLS. Go's FIPS 140-3 mode fips140=only refuses it.
//
// The scheme "digest" of framework.WithAuthorization is something else, in spite of its name: there the client sends
// the password itself, and the server accepts any.
//
// Curator: the section Client of the JAAS file, with DigestLoginModule.
package saslmd5

import (
	"context"
	"crypto/md5"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/gocurator/curator/framework/sasl"
)

// New returns the mechanism for a user. password is called at the beginning of each exchange, that is on each
// connection, so that the password may change. It must be safe for concurrent use, and should return when ctx ends. Its
// error is a failed attempt to connect.
func New(user string, password func(ctx context.Context) (string, error)) sasl.Mechanism {
	return mechanism{user, password}
}

type mechanism struct {
	user     string
	password func(ctx context.Context) (string, error)
}

func (mechanism) Name() string { return "DIGEST-MD5" }

func (m mechanism) Start(ctx context.Context, _ sasl.Server) (sasl.Exchange, error) {
	if _, err := md5.New().Write(nil); err != nil { // in FIPS mode, where the sum itself would panic
		return nil, err
	}
	if m.password == nil {
		return nil, errors.New("saslmd5: there is no password function")
	}
	password, err := m.password(ctx)
	if err != nil {
		return nil, fmt.Errorf("password of %q: %w", m.user, err)
	}
	return &exchange{user: m.user, password: password, cnonce: rand.Text()}, nil
}

// An exchange has three steps: the client begins with an empty token, answers a challenge, and checks the server's
// answer.
type exchange struct {
	user, password string
	cnonce         string
	steps          int
	want           string // the server's proof
}

// Format shows no password, whatever the verb.
func (x *exchange) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "DIGEST-MD5 of %s", x.user) }

// maxChallenge is RFC 2831's.
const maxChallenge = 2048

var errNoSASL = errors.New("the server has no SASL with DIGEST-MD5 configured: its JAAS file has no section Server, or it is " +
	"in FIPS mode, which is the default since 3.9 (-Dzookeeper.fips-mode=false)")

// Step implements [sasl.Exchange].
func (x *exchange) Step(challenge []byte) (response []byte, done bool, err error) {
	x.steps++
	switch {
	case x.steps == 1:
		return []byte{}, false, nil
	case challenge == nil:
		return nil, false, errNoSASL
	case len(challenge) > maxChallenge:
		return nil, false, fmt.Errorf("a challenge of %d bytes, at most %d are allowed", len(challenge), maxChallenge)
	}
	fields, err := parse(string(challenge))
	switch {
	case err != nil:
		return nil, false, err
	case x.steps == 2:
		response, err = x.respond(fields)
		return response, false, err
	case x.steps > 3:
		return nil, false, errors.New("the exchange is over")
	default:
		return nil, true, x.verify(fields)
	}
}

// respond answers the server's challenge.
func (x *exchange) respond(c challenge) ([]byte, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	p := proof{
		user: x.user, password: x.password, realm: c.one("realm"), nonce: c.one("nonce"), cnonce: x.cnonce, latin1: c.one("charset") == utf8Charset,
	}
	x.want = p.sum("")
	return p.response(), nil
}

// verify checks that the server knows the password, too.
func (x *exchange) verify(c challenge) error {
	switch got := c.one("rspauth"); got {
	case "": // as want is, after a challenge that could not be answered
		return errors.New("the server's last answer lacks rspauth, which would prove that it knows the password")
	case x.want:
		return nil
	default:
		return errors.New("the server's rspauth is wrong: it does not know the password")
	}
}
