package certmagiclock_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	certmagiclock "github.com/gocurator/curator/examples/adapters/certmagic"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	domain = "shop.example.com"
	nodes  = "/locks/name-issue_cert_" + domain
)

func connect(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// An issuer takes its time for a certificate, signed by itself, and fails the test if another one is at work.
type issuer struct {
	t      *testing.T
	busy   *atomic.Bool // shared by all issuers: one of them is at work
	issued *atomic.Int32
	takes  time.Duration
	fails  *atomic.Int32 // so many attempts first
}

func newIssuer(t *testing.T) issuer {
	return issuer{t: t, busy: new(atomic.Bool), issued: new(atomic.Int32), takes: 5 * time.Second, fails: new(atomic.Int32)}
}

func (i issuer) IssuerKey() string { return "test" }

func (i issuer) Issue(_ context.Context, request *x509.CertificateRequest) (*certmagic.IssuedCertificate, error) {
	if !i.busy.CompareAndSwap(false, true) {
		i.t.Error("two processes obtain the certificate at one time")
	}
	time.Sleep(i.takes)
	i.busy.Store(false)
	if i.fails.Add(-1) >= 0 {
		return nil, errors.New("the authority has a bad day")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: request.DNSNames,
		NotBefore: time.Now(), NotAfter: time.Now().Add(90 * 24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, request.PublicKey, key)
	if err != nil {
		return nil, err
	}
	i.issued.Add(1)
	return &certmagic.IssuedCertificate{Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// process is a certmagic on a storage that all processes of the test share, and what it logs.
func process(t *testing.T, storage certmagic.Storage, issuer certmagic.Issuer) (*certmagic.Config, *observer.ObservedLogs) {
	t.Helper()
	core, logs := observer.New(zap.InfoLevel)
	logger := zap.New(core)
	var config *certmagic.Config
	cache := certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return config, nil }, Logger: logger,
	})
	t.Cleanup(cache.Stop)
	config = certmagic.New(cache, certmagic.Config{Storage: storage, Issuers: []certmagic.Issuer{issuer}, Logger: logger})
	return config, logs
}

func TestCertificateIsObtainedOnceByProcessesThatWantItTogether(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, files, authority := zktest.New(t), &certmagic.FileStorage{Path: t.TempDir()}, newIssuer(t)
		errs := make(chan error)
		for range 3 {
			storage := certmagiclock.New(files, connect(t, zk.DialContext), "/locks")
			for range 2 { // goroutines of one process
				config, _ := process(t, storage, authority)
				go func() { errs <- config.ObtainCertSync(t.Context(), domain) }()
			}
		}
		for range 6 {
			if err := <-errs; err != nil {
				t.Errorf("obtain: got %v, want nil", err)
			}
		}
		if got := authority.issued.Load(); got != 1 {
			t.Errorf("%d certificates were issued, want 1", got)
		}
		if got := zk.Children(nodes); len(got) != 0 {
			t.Errorf("the locks left %v, want no node", got)
		}
	})
}

func TestProcessThatLostItsLockTriesNoFurtherUntilItHasTheLockAgain(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, files, authority := zktest.New(t), &certmagic.FileStorage{Path: t.TempDir()}, newIssuer(t)
		authority.fails.Store(1)
		link := zk.NewLink()
		cut, logs := process(t, certmagiclock.New(files, connect(t, link.DialContext), "/locks"), authority)
		errs := make(chan error, 1)
		// the first attempt fails; the next one is a minute later
		go func() { errs <- cut.ObtainCertAsync(t.Context(), domain) }()
		time.Sleep(10 * time.Second)
		link.Mute()
		time.Sleep(20 * time.Second)

		slow := authority
		slow.takes = 2 * time.Minute
		other, _ := process(t, certmagiclock.New(files, connect(t, zk.DialContext), "/locks"), slow)
		time.AfterFunc(10*time.Second, link.Heal)
		if err := other.ObtainCertSync(t.Context(), domain); err != nil { // two minutes without a try of the other
			t.Errorf("the other process: got %v, want nil", err)
		}
		if err := <-errs; err != nil {
			t.Errorf("the process that was cut off: got %v, want nil", err)
		}
		if got := authority.issued.Load(); got != 1 {
			t.Errorf("%d certificates were issued, want 1", got)
		}
		said := 0
		for _, entry := range logs.FilterMessage("will retry").All() {
			if strings.Contains(entry.ContextMap()["error"].(string), "cannot be taken again") {
				said++
			}
		}
		if said == 0 {
			t.Errorf("the log does not say that the lock was lost: %v", logs.All())
		}
		if got := zk.Children(nodes); len(got) != 0 {
			t.Errorf("the locks left %v, want no node", got)
		}
	})
}

func TestUnlockOfALostLockReportsTheLossAndLetsTheNextGoroutineIn(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		storage := certmagiclock.New(nil, connect(t, zk.DialContext), "/locks")
		if err := storage.Lock(t.Context(), "a//b"); err != nil {
			t.Fatal(err)
		}
		zk.ExpireSession(zk.Sessions()[0].ID)
		next := make(chan error, 1)
		go func() { next <- storage.Lock(t.Context(), "a//b") }()
		select {
		case err := <-next:
			t.Errorf("the next goroutine was let in before Unlock, with %v", err)
		case <-time.After(time.Minute):
		}
		if ok, err := storage.TryLock(t.Context(), "a//b"); ok || err != nil {
			t.Errorf("TryLock before Unlock: got %v, %v, want false, nil", ok, err)
		}
		if err := storage.Unlock(t.Context(), "a//b"); !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("Unlock: got %v, want ErrLeaseLost", err)
		}
		if err := <-next; err != nil {
			t.Errorf("the next goroutine: got %v, want the lock", err)
		}
		if err := storage.RenewLockLease(t.Context(), "a//b", time.Hour); err != nil {
			t.Errorf("renewal of its lock: got %v, want nil", err)
		}
		if err := storage.Unlock(t.Context(), "a//b"); err != nil {
			t.Errorf("the next goroutine's Unlock: got %v, want nil", err)
		}
	})
}

func TestTryLockOfATakenLockIsFalseAndLockEndsWithItsContext(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		holder := certmagiclock.New(nil, connect(t, zk.DialContext), "/locks")
		if ok, err := holder.TryLock(t.Context(), "a"); !ok || err != nil {
			t.Fatalf("TryLock of a free lock: got %v, %v, want true, nil", ok, err)
		}
		other := certmagiclock.New(nil, connect(t, zk.DialContext), "/locks")
		if ok, err := other.TryLock(t.Context(), "a"); ok || err != nil {
			t.Errorf("TryLock: got %v, %v, want false, nil", ok, err)
		}
		for who, storage := range map[string]*certmagiclock.Storage{"another process": other, "another goroutine": holder} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			if err := storage.Lock(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v, want DeadlineExceeded", who, err)
			}
			cancel()
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if err := holder.Unlock(cancelled, "a"); err != nil {
			t.Errorf("Unlock with a context that has ended: got %v, want nil", err)
		}
		if ok, err := other.TryLock(t.Context(), "a"); !ok || err != nil {
			t.Errorf("TryLock of the freed lock: got %v, %v, want true, nil", ok, err)
		}
		if err := other.Unlock(t.Context(), "a"); err != nil {
			t.Errorf("Unlock: got %v, want nil", err)
		}
	})
}

func TestUnlockAndRenewalOfWhatIsNotLockedAreErrors(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		storage := certmagiclock.New(nil, connect(t, zktest.New(t).DialContext), "/locks")
		if err := storage.Unlock(t.Context(), "a"); err == nil {
			t.Error("Unlock: got nil, want an error")
		}
		if err := storage.RenewLockLease(t.Context(), "a", time.Hour); err == nil {
			t.Error("RenewLockLease: got nil, want an error")
		}
	})
}
