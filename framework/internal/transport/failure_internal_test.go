package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/gocurator/curator/framework/internal/cause"
	"github.com/gocurator/curator/framework/session"
)

func TestFailureCodeSaysWhyAConnectionEndedOrDidNotComeAbout(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	shaking := func(err error) error { return unshaken{handshakeError(err, false), false} }
	for name, test := range map[string]struct {
		err  error
		want cause.Code
	}{
		"no error":                 {nil, cause.Other},
		"refused":                  {dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), cause.Refused},
		"no route":                 {dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)), cause.Unreachable},
		"no network":               {dial(os.NewSyscallError("connect", syscall.ENETUNREACH)), cause.Unreachable},
		"deadline":                 {fmt.Errorf("at 10.0.0.1: %w", context.DeadlineExceeded), cause.Timeout},
		"time limit":               {dial(os.ErrDeadlineExceeded), cause.Timeout},
		"a dialer that hangs":      {errDialer, cause.Timeout},
		"no such name":             {dial(&net.DNSError{Err: "no such host", Name: "zk9"}), cause.NoName},
		"a name that takes":        {&net.DNSError{Err: "timeout", Name: "zk9", IsTimeout: true}, cause.NoName},
		"not TLS":                  {tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}, cause.TLS},
		"unknown authority":        {&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, cause.TLS},
		"an alert":                 {tls.AlertError(42), cause.TLS},
		"hung up":                  {shaking(io.EOF), cause.HungUp},
		"hung up with a reset":     {shaking(os.NewSyscallError("read", syscall.ECONNRESET)), cause.HungUp},
		"hung up after long":       {unshaken{io.EOF, true}, cause.Silent},
		"silent handshake":         {shaking(errSilent), cause.Silent},
		"silent":                   {errSilent, cause.Silent},
		"stuck":                    {errStuck, cause.Silent},
		"overdue":                  {errOverdue, cause.Overdue},
		"closed":                   {io.EOF, cause.Closed},
		"closed within a frame":    {io.ErrUnexpectedEOF, cause.Closed},
		"reset":                    {os.NewSyscallError("read", syscall.ECONNRESET), cause.Reset},
		"authentication":           {fmt.Errorf("%w: SASL", ErrAuth), cause.Auth},
		"a ticket that is missing": {unauthenticated{errors.New("SASL GSSAPI: no ticket")}, cause.SASL},
		"a mechanism that hangs":   {unauthenticated{errMechanism}, cause.SASL},
		"SASL without an answer":   {unauthenticated{errSilent}, cause.SASL},
		"credentials of before":    {unauthenticated{fmt.Errorf("SASL: %w", errNotNow)}, cause.Auth},
		"credentials":              {unauthenticated{fmt.Errorf("SASL: %w", ErrAuth)}, cause.Auth},
		"chroot":                   {fmt.Errorf("%w: /app", session.ErrNoChroot), cause.NoChroot},
		"anything else":            {errors.New("a joke"), cause.Other},
	} {
		if got := FailureCode(test.err); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
