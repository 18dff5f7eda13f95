//go:build unix

package integration_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/recipes/locks"
)

// as is a client's configuration, with the certificate that it presents, if it has one.
func as(roots *x509.CertPool, certificates ...tls.Certificate) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, Certificates: certificates}
}

func TestTLSOnARealServer(t *testing.T) {
	clients, servers, stranger := newAuthority(t, "clients"), newAuthority(t, "servers"), newAuthority(t, "stranger")
	server := startSecure(t, clients, servers)
	billing := clients.issue(t, "billing", time.Hour)
	_, port, _ := net.SplitHostPort(server.tls)

	late := as(pool(servers), billing)
	late.Time = func() time.Time { return time.Now().Add(24 * time.Hour) }
	const refusedByServer = "the server does not take the client's certificate, or wants one"
	for name, c := range map[string]struct {
		servers string
		config  *tls.Config
		says    string // in the error; nothing if the client is taken
	}{
		"right":                           {server.tls, as(pool(servers), billing), ""},
		"wrong host":                      {"localhost:" + port, as(pool(servers), billing), "certificate is not valid for any names, but wanted to match localhost"},
		"the host by another name":        {"localhost:" + port, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: "127.0.0.1", RootCAs: pool(servers), Certificates: []tls.Certificate{billing}}, ""},
		"server of a wrong authority":     {server.tls, as(pool(stranger), billing), "certificate signed by unknown authority"},
		"server expired":                  {server.tls, late, "certificate has expired"},
		"client of a wrong authority":     {server.tls, as(pool(servers), stranger.issue(t, "billing", time.Hour)), refusedByServer},
		"client expired":                  {server.tls, as(pool(servers), clients.issue(t, "billing", -time.Hour)), refusedByServer},
		"client without a certificate":    {server.tls, as(pool(servers)), refusedByServer},
		"TLS at the plain port":           {server.Addr(), as(pool(servers), billing), "does the server speak TLS on this port?"},
		"no TLS at the port for TLS":      {server.tls, nil, "TLS"},
		"no TLS at the plain port, right": {server.Addr(), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var opts []framework.Option
			if c.config != nil {
				opts = append(opts, framework.WithTLS(c.config))
			}
			client := secureClient(t, c.servers, opts...)
			if c.says != "" {
				awaitFailure(t, client, c.says)
			} else if err := connected(t, client); err != nil {
				t.Errorf("got %v, want a connection", err)
			}
			if client.Err() != nil {
				t.Errorf("got %v, want a client that goes on: certificates are renewed", client.Err())
			}
		})
	}
}

// hungUp is a dialer whose connections a test may break.
type hungUp struct {
	mu   sync.Mutex
	open []net.Conn
}

func (h *hungUp) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.open = append(h.open, conn)
	}
	return conn, err
}

func (h *hungUp) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, conn := range h.open {
		_ = conn.Close()
	}
	h.open = nil
}

func TestALockIsHeldWhileCertificatesAreRenewed(t *testing.T) {
	clients, old, next := newAuthority(t, "clients"), newAuthority(t, "servers"), newAuthority(t, "next")
	server := startSecure(t, clients, old)
	var mu sync.Mutex
	var presented int
	certificate := clients.issue(t, "billing", time.Hour)
	var network hungUp
	client := secureClient(t, server.tls, framework.WithSessionTimeout(outlasting), framework.WithDialer(network.dial), framework.WithTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: pool(old, next),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			mu.Lock()
			defer mu.Unlock()
			presented++
			pair := certificate
			return &pair, nil
		},
	}), framework.WithACLProvider(func(string) []zk.ACL { return zk.AuthACL(zk.PermAll) }))
	lease, err := locks.NewInterProcessMutex(client, "/locks/a").Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	acl, _, err := client.ACL(t.Context(), "/locks/a")
	if want := (zk.ACL{Perms: zk.PermAll, Scheme: "x509", ID: "CN=billing,OU=locks"}); err != nil || len(acl) != 1 || acl[0] != want {
		t.Errorf("the lock's ACL: got %v, %v, want %v", acl, err, want)
	}
	s, err := client.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reconnect := func(what string, renewed tls.Certificate, breakOff func()) {
		t.Helper()
		mu.Lock()
		certificate = renewed
		before := presented
		mu.Unlock()
		breakOff()
		await.Until(t, patience, "another connection: "+what, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return presented > before && s.Connected()
		})
		if again, err := client.Session(t.Context()); err != nil || again != s || lease.Err() != nil {
			t.Errorf("%s: got %v, %v, lease %v, want the same session and a lease", what, again, err, lease.Err())
		}
		if _, _, err := client.Children(t.Context(), "/locks/a"); err != nil {
			t.Errorf("%s: got %v, want the permissions of the same subject", what, err)
		}
	}
	reconnect("the client's certificate is renewed", clients.issue(t, "billing", 2*time.Hour), network.reset)
	reconnect("the servers have another authority", certificate, func() {
		server.present(t, next)
		server.Restart()
	})
	if err := lease.Release(); err != nil {
		t.Error(err)
	}

	// Not the lock's directory: the server removes that once it is empty, maybe before the client is back.
	if _, _, err := client.Create(t.Context(), "/own", nil); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	certificate = clients.issue(t, "other", time.Hour)
	mu.Unlock()
	network.reset()
	if !await.Within(patience, func() bool {
		_, _, err = client.Get(t.Context(), "/own")
		return errors.Is(err, zk.ErrNoAuth)
	}) {
		if err == nil {
			t.Fatalf("another subject got the node, want %v", zk.ErrNoAuth)
		}
		await.Fatalf(t, "another subject to be refused: got %v, want %v", err, zk.ErrNoAuth)
	}
}

// A fleet moves to TLS, or back, process by process: its lock goes on.
func TestPlainAndTLSClientsShareALock(t *testing.T) {
	clients, servers := newAuthority(t, "clients"), newAuthority(t, "servers")
	server := startSecure(t, clients, servers)
	secured := framework.WithTLS(as(pool(servers), clients.issue(t, "billing", time.Hour)))
	path := "/locks/moving"
	holder, err := locks.NewInterProcessMutex(secureClient(t, server.Addr()), path).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 4 { // to TLS and back, twice
		address, opts := server.tls, []framework.Option{secured}
		if i%2 == 1 {
			address, opts = server.Addr(), nil
		}
		mutex := locks.NewInterProcessMutex(secureClient(t, address, opts...), path)
		if _, err := mutex.TryAcquire(t.Context()); !errors.Is(err, locks.ErrNotAcquired) {
			t.Errorf("while the other kind of client holds it: got %v, want %v", err, locks.ErrNotAcquired)
		}
		next := make(chan error, 1)
		var lease *locks.Lease
		go func() {
			var err error
			lease, err = mutex.Acquire(t.Context())
			next <- err
		}()
		if err := holder.Release(); err != nil {
			t.Error(err)
		}
		if err := <-next; err != nil {
			t.Fatal(err)
		}
		holder = lease
	}
	if err := holder.Release(); err != nil {
		t.Error(err)
	}
}
