//go:build unix

package integration_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/zookeeper"
)

// An authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(48 * time.Hour),
	}
	a.certificate = parse(t, sign(t, template, template, a.key, a.key))
	return a
}

// issue makes a certificate that ends so long from now.
func (a *authority) issue(t *testing.T, name string, life time.Duration, ips ...net.IP) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: serial(t), Subject: pkix.Name{CommonName: name, OrganizationalUnit: []string{"locks"}}, IPAddresses: ips,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(life), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	return tls.Certificate{Certificate: [][]byte{sign(t, template, a.certificate, key, a.key)}, PrivateKey: key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func serial(t *testing.T) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func parse(t *testing.T, der []byte) *x509.Certificate {
	t.Helper()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func pool(authorities ...*authority) *x509.CertPool {
	p := x509.NewCertPool()
	for _, a := range authorities {
		p.AddCert(a.certificate)
	}
	return p
}

// A secureServer speaks TLS on a port of its own, and plainly on the other.
type secureServer struct {
	*zookeeper.Server
	tls string // its address
	dir string
}

func startSecure(t *testing.T, clients, servers *authority) *secureServer {
	t.Helper()
	s := &secureServer{dir: t.TempDir()}
	s.present(t, servers)
	s.write(t, "trust.pem", "CERTIFICATE", clients.certificate.Raw)
	s.Server = zookeeper.Start(t, zookeeper.Config{MaxSessionTimeout: outlasting, Secure: true, Properties: map[string]string{
		"serverCnxnFactory": "org.apache.zookeeper.server.NettyServerCnxnFactory",
		"authProvider.x509": "org.apache.zookeeper.server.auth.X509AuthenticationProvider",
		"ssl.keyStore.type": "PEM", "ssl.keyStore.location": filepath.Join(s.dir, "key.pem"),
		"ssl.trustStore.type": "PEM", "ssl.trustStore.location": filepath.Join(s.dir, "trust.pem"),
	}})
	s.tls = s.SecureAddr()
	return s
}

// present gives the server a new certificate, which it reads when it starts.
func (s *secureServer) present(t *testing.T, signer *authority) {
	t.Helper()
	certificate := signer.issue(t, "server", time.Hour, net.IPv4(127, 0, 0, 1))
	key, err := x509.MarshalPKCS8PrivateKey(certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "key.pem", "PRIVATE KEY", key, "CERTIFICATE", certificate.Certificate[0])
}

func (s *secureServer) write(t *testing.T, name string, blocks ...any) {
	t.Helper()
	var text bytes.Buffer
	for i := 0; i < len(blocks); i += 2 {
		kind, _ := blocks[i].(string)
		der, _ := blocks[i+1].([]byte)
		if err := pem.Encode(&text, &pem.Block{Type: kind, Bytes: der}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, name), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}
