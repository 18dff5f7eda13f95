package fourletter_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/dnstest"
)

// patience is for answers that come, on a machine that is busy.
const patience = time.Minute

// serve accepts connections, and has do answer each.
func serve(t *testing.T, do func(net.Conn)) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			do(conn)
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	return listener.Addr().String()
}

func ask(t *testing.T, address, command string, limit time.Duration) (string, error) {
	t.Helper()
	return fourletter.Servers(address, nil, limit)[0].Ask(t.Context(), command)
}

func TestServerAnswers(t *testing.T) {
	server := zktest.New(t)
	if got, err := ask(t, server.Addr(), "srvr", patience); err != nil || !strings.Contains(got, "Mode: standalone") {
		t.Errorf("got %q, %v, want the answer to srvr", got, err)
	}
}

func TestServerThatRefusesIsUnreachable(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	_, err = ask(t, listener.Addr().String(), "srvr", patience)
	if fourletter.TroubleOf(err) != fourletter.Unreachable || strings.Contains(err.Error(), "dial") {
		t.Errorf("got %v, want that the connection is refused, without Go's words around it", err)
	}
}

func TestFrozenServerIsSilent(t *testing.T) {
	server := zktest.New(t)
	server.Freeze()
	defer server.Unfreeze()
	const limit = 100 * time.Millisecond
	begun := time.Now()
	if _, err := ask(t, server.Addr(), "srvr", limit); fourletter.TroubleOf(err) != fourletter.Silent {
		t.Errorf("got %v, want that the server is silent", err)
	}
	if took := time.Since(begun); took < limit {
		t.Errorf("got an answer after %v, want it after %v", took, limit)
	}
}

func TestServerThatHangsUpIsNotSilent(t *testing.T) {
	address := serve(t, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 4)) })
	if _, err := ask(t, address, "srvr", patience); fourletter.TroubleOf(err) != fourletter.HungUp {
		t.Errorf("got %v, want that the server hangs up", err)
	}
}

func TestWebServerThatWaitsForALineIsFound(t *testing.T) {
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	_, err := ask(t, web.Listener.Addr().String(), "srvr", 4*time.Second)
	if fourletter.TroubleOf(err) != fourletter.Foreign || !strings.Contains(err.Error(), "web server") {
		t.Errorf("got %v, want that it is a web server", err)
	}
}

func TestDumpIsReadToTheEndOfTheSessionsOnly(t *testing.T) {
	address := serve(t, func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4))
		_, _ = conn.Write([]byte("SessionTracker dump:\nephemeral nodes"))
		_, _ = conn.Write([]byte(" dump:\n"))
		_, _ = bufio.NewReader(conn).ReadByte() // until the client hangs up
	})
	got, err := ask(t, address, "dump", patience)
	if err != nil || !fourletter.ParseSessions(got).Whole {
		t.Errorf("got %q, %v, want the whole list of sessions", got, err)
	}
}

func TestCancelledQuestionSaysNothingOfTheServer(t *testing.T) {
	server := zktest.New(t)
	server.Freeze()
	defer server.Unfreeze()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := fourletter.Servers(server.Addr(), nil, patience)[0].Ask(ctx, "srvr")
	if fourletter.TroubleOf(err) != fourletter.NotAsked {
		t.Errorf("got %v, want that it was not asked to the end", err)
	}
}

func TestServersOfAConnectString(t *testing.T) {
	for connect, want := range map[string][]string{
		"zk1":                           {"zk1:2181"},
		"zk1:1,zk2/chroot":              {"zk1:1", "zk2:2181"},
		"zk1:1,zk1:1":                   {"zk1:1"},
		"[2001:db8::1],[::1]:7/a":       {"[2001:db8::1]:2181", "[::1]:7"},
		"zk1.example.org:2181,10.0.0.7": {"zk1.example.org:2181", "10.0.0.7:2181"},
	} {
		var got []string
		for _, s := range fourletter.Servers(connect, nil, patience) {
			got = append(got, s.Address)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", connect, got, want)
		}
	}
}

func TestConnectStringIsSplitBeforeItsChroot(t *testing.T) {
	for connect, want := range map[string][2]string{
		"zk1:1,zk2":                    {"zk1:1,zk2", ""},
		"zk1/":                         {"zk1", ""},
		"zk1,zk2/a/b":                  {"zk1,zk2", "/a/b"},
		"dns-srv://_client._tcp.zk":    {"dns-srv://_client._tcp.zk", ""},
		"dns-srv://_client._tcp.zk/a/": {"dns-srv://_client._tcp.zk", "/a"},
	} {
		if servers, chroot := fourletter.Split(connect); servers != want[0] || chroot != want[1] {
			t.Errorf("%s: got %q and %q, want %q", connect, servers, chroot, want)
		}
	}
}

func TestServersOfSRVRecordsAreLookedUp(t *testing.T) {
	const name = "_client._tcp.zk.example."
	var dns dnstest.Server
	dns.Resolve(t)
	dns.SetSRV(name, net.SRV{Target: "zk-0.example.", Port: 2181}, net.SRV{Target: "zk-1.example.", Port: 2999})
	all, err := fourletter.Find(t.Context(), "dns-srv://"+name+"/app", nil, patience)
	var got []string
	for _, s := range all {
		got = append(got, s.Address)
	}
	slices.Sort(got) // the resolver shuffles
	if want := []string{"zk-0.example.:2181", "zk-1.example.:2999"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	dns.Forget()
	if all, err := fourletter.Find(t.Context(), "dns-srv://"+name, nil, patience); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("without records got %v, %v, want an error with the name", all, err)
	}
}

func TestSRVRecordsThatAClientRefusesAreNamed(t *testing.T) {
	const name = "_client._tcp.zk.example."
	many := make([]net.SRV, 101)
	for i := range many {
		many[i] = net.SRV{Target: "zk.example.", Port: uint16(i + 1)}
	}
	var dns dnstest.Server
	dns.Resolve(t)
	for want, records := range map[string][]net.SRV{
		"there are 101, more than the 100 that a client takes": many,
		`a target is "."`:              {{Target: "zk.example.", Port: 2181}, {Target: ".", Port: 1}},
		"the port of zk.example. is 0": {{Target: "zk.example."}},
	} {
		dns.SetSRV(name, records...)
		all, err := fourletter.Find(t.Context(), "dns-srv://"+name, nil, patience)
		if err == nil || !strings.Contains(err.Error(), "SRV records of "+name+": "+want) {
			t.Errorf("got %v, %v, want %q", all, err, want)
		}
	}
}

func TestServerIsAskedOverTLS(t *testing.T) {
	web := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate
	defer web.Close()
	plain, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := zktest.New(t)
	ended := make(chan error, 1)
	listener := tls.NewListener(plain, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: web.TLS.Certificates})
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		listener.Close()
		<-ended
	})
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	secure := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots}
	got, err := fourletter.Servers(plain.Addr().String(), secure, 10*time.Second)[0].Ask(t.Context(), "srvr")
	if err != nil || !strings.Contains(got, "Mode: standalone") {
		t.Errorf("got %q, %v, want the answer to srvr", got, err)
	}
	if _, err := fourletter.Servers(server.Addr(), secure, patience)[0].Ask(t.Context(), "srvr"); fourletter.TroubleOf(err) != fourletter.HungUp {
		t.Errorf("got %v over TLS at a port that does not speak it, want that the server hangs up", err)
	}
}
