package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

// unshaken is why a connection ended before the handshake was answered.
type unshaken struct {
	error
	late bool // long after it was sent: that is no answer to it
}

func (e unshaken) Unwrap() error { return e.error }

// unauthenticated is why a connection ended after the handshake was answered, and before the session was taken.
type unauthenticated struct{ error }

func (e unauthenticated) Unwrap() error { return e.error }

// FailureCode says why an attempt to connect failed, or why a connection ended. A server that is not serving closes the
// connection on the handshake; with the handshake unread in its buffer, its system resets it.
//
// It calls methods of err, which a program's dialer may have made, so no mutex may be held.
func FailureCode(err error) cause.Code {
	var early unshaken
	shaking := errors.As(err, &early)
	var late unauthenticated
	closed := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	reset := errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
	switch {
	case err == nil:
		return cause.Other
	case errors.Is(err, ErrAuth), errors.Is(err, errNotNow):
		return cause.Auth
	case errors.As(err, &late):
		return cause.SASL
	case errors.Is(err, session.ErrNoChroot):
		return cause.NoChroot
	case shaking && early.late:
		return cause.Silent
	case shaking && (closed || reset):
		return cause.HungUp
	case errors.Is(err, errSilent), errors.Is(err, errStuck):
		return cause.Silent
	case errors.Is(err, errOverdue):
		return cause.Overdue
	case isSecurity(err):
		return cause.TLS
	case closed:
		return cause.Closed
	case reset:
		return cause.Reset
	default:
		return dialCode(err)
	}
}

func isSecurity(err error) bool {
	var record tls.RecordHeaderError
	var certificate *tls.CertificateVerificationError
	var alert tls.AlertError
	var host x509.HostnameError
	var authority x509.UnknownAuthorityError
	return errors.As(err, &record) || errors.As(err, &certificate) || errors.As(err, &alert) || errors.As(err, &host) ||
		errors.As(err, &authority)
}

// dialCode is the code of a connection that did not come about.
func dialCode(err error) cause.Code {
	var name *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &name):
		return cause.NoName
	case errors.Is(err, syscall.ECONNREFUSED):
		return cause.Refused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return cause.Unreachable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errDialer), errors.Is(err, errNoAnswer),
		errors.As(err, &timeout) && timeout.Timeout():
		return cause.Timeout
	default:
		return cause.Other
	}
}
