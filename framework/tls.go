package framework

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

type secureFunc func(ctx context.Context, raw net.Conn, server string) (net.Conn, error)

// secureTLS verifies the server's name in the connect string unless base names another.
func secureTLS(base *tls.Config) secureFunc {
	return func(ctx context.Context, raw net.Conn, server string) (net.Conn, error) {
		cfg := base
		if cfg.ServerName == "" {
			host, _, err := net.SplitHostPort(server)
			if err != nil {
				return nil, err
			}
			cfg = base.Clone()
			cfg.ServerName = host
		}
		conn := tls.Client(raw, cfg)
		if err := conn.HandshakeContext(ctx); err != nil {
			return nil, tlsError(err)
		}
		return conn, nil
	}
}

// tlsError explains the end of a handshake with a server that speaks no TLS: it takes the greeting for a frame that is
// far too long, and closes the connection.
func tlsError(err error) error {
	var record tls.RecordHeaderError
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &record) {
		return fmt.Errorf("TLS handshake: %w (does the server speak TLS on this port? If not, use its secureClientPort, or no WithTLS)", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}
