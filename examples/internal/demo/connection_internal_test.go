package demo

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"flag"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// secureServer serves over TLS, to clients with its own certificate alone. files are the certificate and its key.
func secureServer(t *testing.T) (addr, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "zk.example"}, DNSNames: []string{"zk.example"},
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeFile(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	writeFile(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: roots, ClientAuth: tls.RequireAndVerifyClientCert,
	})
	if err != nil {
		t.Fatal(err)
	}
	server := zktest.NewServer()
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String(), certFile, keyFile
}

func writeFile(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// parse returns the connection that the flags say.
func parse(t *testing.T, args ...string) *Connection {
	t.Helper()
	var c Connection
	flags := flag.NewFlagSet("test", flag.ContinueOnError)
	c.Flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &c
}

func TestFlagsOfAConnectionReachTheServer(t *testing.T) {
	addr, cert, key := secureServer(t)
	auth := filepath.Join(t.TempDir(), "auth")
	writeFile(t, auth, []byte("digest alice:secret\n"))
	c := parse(t, "-zk", addr, "-tls-ca", cert, "-tls-cert", cert, "-tls-key", key, "-tls-name", "zk.example", "-auth", auth)
	options, err := c.Options()
	if err != nil {
		t.Fatal(err)
	}
	client, err := framework.NewClient(c.Servers, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, _, err := client.Create(t.Context(), "/alice's", nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := client.Get(t.Context(), "/alice's"); err != nil {
		t.Errorf("got %v, want alice to read her node", err)
	}
	withoutAuth := *c
	withoutAuth.auth = ""
	if options, err = withoutAuth.Options(); err != nil {
		t.Fatal(err)
	}
	stranger, err := framework.NewClient(c.Servers, options...)
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, _, err := stranger.Get(t.Context(), "/alice's"); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("without -auth: got %v, want %v", err, zk.ErrNoAuth)
	}
}

func TestMistakesInAConnectionAreNamedAndSecretsAreNot(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad")
	writeFile(t, bad, []byte("digest-alice:secret"))
	nobody := filepath.Join(t.TempDir(), "nobody")
	writeFile(t, nobody, []byte("secret"))
	for name, c := range map[string]struct{ args, want string }{
		"TLS in memory":       {"-tls", "-zk"},
		"auth in memory":      {"-auth " + bad, "-zk"},
		"SASL in memory":      {"-sasl " + bad, "-zk"},
		"no user":             {"-zk a:1 -sasl " + nobody, "user:password"},
		"no SASL file":        {"-zk a:1 -sasl /none", "/none"},
		"no scheme":           {"-zk a:1 -auth " + bad, "digest user:password"},
		"no file":             {"-zk a:1 -auth /none", "/none"},
		"no certificate":      {"-zk a:1 -tls-ca " + bad, "has no certificate"},
		"a cert without key":  {"-zk a:1 -tls-cert " + bad, "-tls-key"},
		"two things at once ": {"-zk a:1 -tls-ca /none -auth /missing", "/missing"},
	} {
		_, err := parse(t, strings.Fields(c.args)...).Options()
		if Status(err) != StatusUsage || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want a mistake that names %q", name, err, c.want)
		}
	}
}

func TestUserOfTheSASLFileIsProvedToTheServerWithTheNewestPassword(t *testing.T) {
	server := zktest.NewServer(zktest.WithSASL(map[string]string{"alice": "old"}), zktest.WithSASLRequired())
	defer server.Close()
	file := filepath.Join(t.TempDir(), "sasl")
	writeFile(t, file, []byte("alice:old\n"))
	options, err := parse(t, "-zk", server.Addr(), "-sasl", file).Options()
	if err != nil {
		t.Fatal(err)
	}
	create := func(path string) {
		t.Helper()
		client, err := framework.NewClient(server.Addr(), options...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if _, _, err := client.Create(t.Context(), path, nil, framework.WithACL(zk.AuthACL(zk.PermAll)...)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	create("/alice's")
	server.SetSASLPassword("alice", "new")
	writeFile(t, file, []byte("alice:new\n"))
	create("/alice's, too")
}

// full is an output without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestLostOutputEndsTheProgramAndIsAFailure(t *testing.T) {
	var errs bytes.Buffer
	command := Command{Name: "test", Run: func(ctx context.Context, out io.Writer) error {
		_, _ = io.WriteString(out, "hello")
		<-ctx.Done()
		return nil
	}}
	got := command.Do(t.Context(), flag.NewFlagSet("", flag.ContinueOnError), nil, full{}, &errs)
	if got != StatusFailed || !strings.Contains(errs.String(), "no space left") {
		t.Errorf("got status %d and %q, want %d and the reason", got, &errs, StatusFailed)
	}
}

func TestEveryOptionOfTheConnectionIsUsedByTheProbe(t *testing.T) {
	addr, cert, key := secureServer(t)
	host, _, err := net.SplitHostPort(addr)
	if err != nil || host != "127.0.0.1" {
		t.Fatal(host, err)
	}
	connection := *parse(t, "-zk", addr, "-tls-ca", cert, "-tls-cert", cert, "-tls-key", key, "-tls-name", "zk.example")
	err = run(t.Context(), "test", connection, 10*time.Second, io.Discard, io.Discard, func(ctx context.Context, env *Env) error {
		return Put(ctx, env.Client(), "/node", "data")
	})
	if err != nil {
		t.Error(err)
	}
}
