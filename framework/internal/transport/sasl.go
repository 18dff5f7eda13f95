package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/sasl"
)

// The exchange of SASL tokens stands between the answer to the handshake and everything else. A server that insists on
// SASL refuses any other request before the exchange is over, pings and the end of the session included, and servers
// answer these requests aside, so that an answer could overtake others. So nothing else is in flight: go-zookeeper
// still waits for the answer to the handshake, and the link takes no requests.

const (
	// xidSASL is positive, as servers want it, and none of go-zookeeper's or of calls.
	xidSASL = xidFirst - 1
	// maxToken bounds a server's answer. Tokens of Kerberos have some kilobytes.
	maxToken = 64 << 10
	// maxRounds bounds the exchange: GSSAPI takes four.
	maxRounds = 16
)

var (
	errRounds    = fmt.Errorf("no end after %d rounds", maxRounds)
	errMechanism = errors.New("the mechanism has not returned, although its context has ended")
	errNoToken   = errors.New("the server closed the connection (older servers refuse a client so)")
	// errNotNow is a refusal of a client that was taken before. Another server may know better, or the mechanism may
	// have other credentials the next time. It is final once the session is over: the next one is refused with ErrAuth.
	errNotNow = errors.New("authentication refused by the server, which did not happen when the session was opened")
)

// authenticate has the mechanism prove to a server who the client is. round sends a token and returns the answer. ctx
// ends the mechanism's part.
func (t *Transport) authenticate(ctx context.Context, server sasl.Server, round func(token []byte) ([]byte, error)) error {
	m := t.cfg.SASL
	x, err := await(ctx, func() (sasl.Exchange, error) { return m.Start(ctx, server) })
	if err == nil && x == nil {
		err = errors.New("the mechanism returned neither an exchange nor an error")
	}
	challenge := []byte{}
	for n := 0; err == nil; n++ {
		if n == maxRounds {
			err = errRounds
			break
		}
		type step struct {
			response []byte
			done     bool
		}
		var s step
		s, err = await(ctx, func() (s step, err error) {
			s.response, s.done, err = x.Step(challenge)
			return s, err
		})
		if err == nil && s.done {
			return nil
		}
		if err == nil {
			challenge, err = round(s.response)
		}
	}
	return fmt.Errorf("SASL %s: %w", m.Name(), err)
}

// await calls a function of the user, which may not heed its context. What comes too late is dropped.
func await[T any](ctx context.Context, call func() (T, error)) (answer T, err error) {
	type outcome struct {
		answer T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		answer, err := call()
		done <- outcome{answer, err}
	}()
	select {
	case o := <-done:
		return o.answer, o.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(dialGrace)
	defer timer.Stop()
	select {
	case o := <-done: // with its own error about the end, or just in time
		return o.answer, o.err
	case <-timer.C:
		return answer, errMechanism
	}
}

// tokenFrame is a request with a token.
func tokenFrame(token []byte) []byte {
	c := newCall(opSASL, errorDone(func(error) {}))
	c.body.bytes(token)
	return c.frame(nil, xidSASL)
}

// readToken reads the answer: a token, or nil if the server has none.
func readToken(r io.Reader) ([]byte, error) {
	frame, err := readFrame(r, nil, maxToken)
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: %w", errNoToken, err)
	}
	if err != nil {
		return nil, err
	}
	d := decoder{rest: frame[4:]}
	xid, _, code := d.int32(), d.int64(), d.int32()
	switch {
	case d.err != nil:
		return nil, d.err
	case xid != xidSASL:
		return nil, garbage("an answer to request %d, when a token was asked for", xid)
	case code == codeSaslRequired:
		return nil, errUnproven
	case code == codeAuthFailed:
		return nil, ErrAuth
	case code != 0:
		return nil, toError(code)
	}
	token := d.bytes()
	return token, d.end()
}

// authenticate is the link's exchange. It is bounded by itself: what the handshake may take is too short for a
// mechanism that asks others. The session lives on meanwhile, if it does, and other servers are to be tried before it
// ends.
func (l *link) authenticate(granted time.Duration) error {
	if l.t.cfg.SASL == nil {
		return nil
	}
	l.t.trying(l.server, cause.Authenticating)
	ctx, cancel := context.WithTimeout(l.t.ctx, min(l.t.cfg.ConnectionTimeout, granted/3))
	defer cancel()
	err := l.t.authenticate(ctx, describe(l.server, l.raw), func(token []byte) ([]byte, error) {
		end, _ := ctx.Deadline()
		l.silence.Reset(time.Until(end))
		answer, err := l.round(token)
		if !l.silence.Stop() {
			err = errSilent // the connection is being closed at this moment
		}
		return answer, err
	})
	switch {
	case err == nil:
		return nil
	case l.newSession, l.t.ctx.Err() != nil:
		l.endUnused() // so that the session ends now, not after its timeout
	case errors.Is(err, ErrAuth):
		err = fmt.Errorf("SASL %s: %w", l.t.cfg.SASL.Name(), errNotNow)
	}
	return err
}

func (l *link) round(token []byte) ([]byte, error) {
	if _, err := l.raw.Write(tokenFrame(token)); err != nil {
		return nil, err
	}
	return readToken(l.in)
}

// describe is what a mechanism may know of a server.
func describe(server string, conn net.Conn) sasl.Server {
	host, _, err := net.SplitHostPort(server)
	if err != nil {
		host = server
	}
	s := sasl.Server{Host: strings.TrimSuffix(host, "."), Addr: conn.RemoteAddr()}
	if secured, ok := conn.(interface{ ConnectionState() tls.ConnectionState }); ok {
		state := secured.ConnectionState()
		s.TLS = &state
	}
	return s
}
