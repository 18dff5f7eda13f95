//go:build unix

package kerberos_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

const realm = "EXAMPLE.COM"

// A kdc is a Kerberos server on loopback.
type kdc struct {
	dir     string
	address string
	process *exec.Cmd
}

// startKDC makes a realm with these principals, whose keys are in the file keys of its directory, and serves it.
func startKDC(t *testing.T, principals ...string) *kdc {
	t.Helper()
	mode := os.Getenv("CURATOR_INTEGRATION")
	if mode == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting a KDC")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin")
	if _, err := exec.LookPath("krb5kdc"); err != nil {
		if mode == "required" {
			t.Fatalf("no KDC to test on: %v", err)
		}
		t.Skipf("no KDC to test on: %v (Debian: krb5-kdc, krb5-admin-server)", err)
	}
	port, err := zookeeper.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	k := &kdc{dir: t.TempDir(), address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	k.write(t, "krb5.conf", fmt.Sprintf(`[libdefaults]
 default_realm = %[1]s
 dns_lookup_kdc = false
 dns_lookup_realm = false
 udp_preference_limit = 1
 default_tkt_enctypes = aes256-cts-hmac-sha1-96
 default_tgs_enctypes = aes256-cts-hmac-sha1-96
 permitted_enctypes = aes256-cts-hmac-sha1-96
[realms]
 %[1]s = {
  kdc = %[2]s
 }
`, realm, k.address))
	k.write(t, "kdc.conf", fmt.Sprintf(`[kdcdefaults]
 kdc_listen = %[2]s
 kdc_tcp_listen = %[2]s
[realms]
 %[1]s = {
  database_name = %[3]s/principal
  key_stash_file = %[3]s/stash
  supported_enctypes = aes256-cts-hmac-sha1-96:normal
 }
[logging]
 kdc = FILE:%[3]s/kdc.log
`, realm, k.address, k.dir))
	t.Setenv("KRB5_CONFIG", k.file("krb5.conf"))
	t.Setenv("KRB5_KDC_PROFILE", k.file("kdc.conf"))
	k.run(t, "kdb5_util", "create", "-s", "-r", realm, "-P", "master")
	for _, principal := range principals {
		k.run(t, "kadmin.local", "-r", realm, "addprinc", "-randkey", principal)
		k.run(t, "kadmin.local", "-r", realm, "ktadd", "-k", k.file("keys"), principal)
	}
	k.start(t)
	t.Cleanup(k.stop)
	return k
}

func (k *kdc) file(name string) string { return filepath.Join(k.dir, name) }

func (k *kdc) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(k.file(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (k *kdc) run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// start returns when the KDC takes connections.
func (k *kdc) start(t *testing.T) {
	t.Helper()
	k.process = exec.Command("krb5kdc", "-n")
	if err := k.process.Start(); err != nil {
		t.Fatal(err)
	}
	var err error
	if !await.Within(time.Minute, func() bool {
		var conn net.Conn
		if conn, err = net.Dial("tcp", k.address); err == nil {
			_ = conn.Close()
		}
		return err == nil
	}) {
		await.Fatalf(t, "the KDC to serve, got %v", err)
	}
}

func (k *kdc) stop() {
	_ = k.process.Process.Kill()
	_ = k.process.Wait()
}
