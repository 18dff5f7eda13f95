package framework_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/retry"
)

// tlsFront serves srv over TLS on loopback, with a certificate for name, and returns its address and who signed that.
func tlsFront(t *testing.T, srv *zktest.Server, name string, change ...func(*tls.Config)) (address string, roots *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	leaf, err := x509.ParseCertificate(der)
	must(t, err)
	roots = x509.NewCertPool()
	roots.AddCert(leaf)
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	for _, f := range change {
		f(cfg)
	}
	ln, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	must(t, err)
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			go serveThrough(t, srv, conn)
		}
	}()
	return ln.Addr().String(), roots
}

func serveThrough(t *testing.T, srv *zktest.Server, conn net.Conn) {
	defer conn.Close()
	inner, err := srv.DialContext(t.Context(), "tcp", "inner")
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(inner, conn)
		_ = inner.Close()
	}()
	_, _ = io.Copy(conn, inner)
}

func TestAClientSpeaksTLS(t *testing.T) {
	srv := zktest.NewServer()
	defer srv.Close()
	address, roots := tlsFront(t, srv, "zk.example")
	client, err := framework.NewClient(address,
		framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: "zk.example"}))
	must(t, err)
	defer client.Close()
	if _, _, err := client.Create(t.Context(), "/over-tls", []byte("x")); err != nil {
		t.Fatal(err)
	}
	if !srv.Exists("/over-tls") {
		t.Error("got no /over-tls, want the node")
	}
}

func TestAServerWithAnothersCertificateIsNamed(t *testing.T) {
	srv := zktest.NewServer()
	defer srv.Close()
	address, roots := tlsFront(t, srv, "somebody.else")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var dials atomic.Int32
	client, err := framework.NewClient(address, framework.WithConnectionTimeout(time.Minute), framework.WithRetryPolicy(retry.Never()),
		framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}),
		framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if dials.Add(1) == 2 { // the client has noted what became of the first
				cancel()
			}
			return new(net.Dialer).DialContext(ctx, network, address)
		}))
	must(t, err)
	defer client.Close()
	err = client.BlockUntilConnected(ctx) // its error says why, also if ctx has ended before
	var unreachable *framework.ConnectError
	var invalid x509.HostnameError
	if !errors.As(err, &unreachable) || !errors.As(err, &invalid) {
		t.Errorf("got %v, want a ConnectError that has the certificate's problem", err)
	}
}

// With TLS 1.3 the handshake is over for the client before the server has looked at its certificate.
func TestAServerThatDoesNotTakeTheClientsCertificateIsNamed(t *testing.T) {
	srv := zktest.NewServer()
	defer srv.Close()
	address, roots := tlsFront(t, srv, "zk.example", func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert })
	client, err := framework.NewClient(address,
		framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, ServerName: "zk.example"}))
	must(t, err)
	defer client.Close()
	const want = "the server does not take the client's certificate, or wants one: remote error: tls: certificate required"
	for deadline := time.Now().Add(time.Minute); ; {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := client.BlockUntilConnected(ctx)
		cancel()
		if err != nil && strings.Contains(err.Error(), want) {
			return
		}
		if err == nil {
			t.Fatalf("got %v, want %q in it", err, want)
		}
		if time.Now().After(deadline) {
			await.Fatalf(t, "an error with %q, got %v", want, err)
		}
	}
}

// The connection goes to an address that a look-up has given, and the certificate is that of the name.
func TestTLSVerifiesTheNameOfTheConnectStringAndNotTheAddress(t *testing.T) {
	srv := zktest.NewServer()
	defer srv.Close()
	address, roots := tlsFront(t, srv, "zk.example")
	_, port, err := net.SplitHostPort(address)
	must(t, err)
	for name, ok := range map[string]bool{"zk.example": true, "zk.example.": true, "other.example": false} {
		client, err := framework.NewClient(net.JoinHostPort(name, port),
			framework.WithTLS(&tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}),
			framework.WithRetryPolicy(retry.Never()), framework.WithConnectionTimeout(5*time.Second),
			framework.WithLookup(func(context.Context, string) ([]string, error) { return []string{"127.0.0.1"}, nil }))
		must(t, err)
		var wrong x509.HostnameError
		for wait := 100 * time.Millisecond; wait < time.Minute; wait *= 2 {
			ctx, cancel := context.WithTimeout(t.Context(), wait)
			err = client.BlockUntilConnected(ctx)
			cancel()
			if err == nil || errors.As(err, &wrong) {
				break // otherwise the machine may be busy
			}
		}
		if (err == nil) != ok {
			t.Errorf("%s: %v", name, err)
		}
		if !ok && !errors.As(err, &wrong) {
			t.Errorf("%s: got %v, want one about the certificate's name", name, err)
		}
		_ = client.Close()
	}
}
