package zktest_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// recorder is a test that notes its failure.
type recorder struct {
	cleanups []func()
	errors   []string
}

func (*recorder) Helper()                     {}
func (r *recorder) Cleanup(f func())          { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(s string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(s, a...)) }
func (r *recorder) end() (errors []string) {
	for _, f := range r.cleanups {
		f()
	}
	return r.errors
}

func TestNewReportsClientsThatWereNotClosed(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var clean recorder
		nc, _ := attach(t, zktest.New(&clean), nil)
		nc.Close()
		if errors := clean.end(); len(errors) > 0 {
			t.Fatal(errors)
		}
		var dirty recorder
		nc, _ = attach(t, zktest.New(&dirty), nil)
		if !answered(nc, request(zktest.OpGetData, "/", 1)) {
			t.Fatal("got no answer, want one")
		}
		if errors := dirty.end(); len(errors) != 1 || !strings.Contains(errors[0], `watches on ["/"]`) {
			t.Fatal(errors)
		}
	})
}

func TestFourLetterWords(t *testing.T) {
	srv := zktest.New(t)
	nc, _ := attach(t, srv, nil)
	defer nc.Close()
	answered(nc, request(zktest.OpGetData, "/", 1))
	for word, want := range map[string]string{
		"ruok": "imok", "isro": "rw", "srvr": "Mode: standalone", "stat": "Node count: 4", "cons": "sid=0x1", "mntr": "zk_znode_count\t4",
		"conf": "tickTime=100", "envi": "zookeeper.version=3.9.5", "dump": "Session Sets (1)/(1)", "wchs": "1 connections watching 1 paths",
		"wchc": "\t/", "wchp": "/\n\t0x1",
	} {
		nc, err := net.Dial("tcp", srv.Addr())
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(nc, word)
		if text, err := io.ReadAll(nc); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %q, %v", word, text, err)
		}
		nc.Close()
	}
}

// say asks a server by a four-letter word.
func say(t *testing.T, srv *zktest.Server, word string) string {
	t.Helper()
	nc, err := srv.Dial("tcp", "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	if _, err := io.WriteString(nc, word); err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(nc)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConsTellsWhenAConnectionWasAnsweredLast(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		srv := zktest.New(t)
		nc, _ := attach(t, srv, nil)
		defer nc.Close()
		lastResponse := func() (at int) {
			_, text, _ := strings.Cut(say(t, srv, "cons"), ",lresp=")
			if _, err := fmt.Sscanf(text, "%d)", &at); err != nil {
				t.Fatalf("%v in %q", err, text)
			}
			return at
		}
		first := lastResponse()
		time.Sleep(3 * time.Second)
		if got := lastResponse(); got != first {
			t.Errorf("got a last response at %d ms without a request, want %d", got, first)
		}
		answered(nc, request(zktest.OpGetData, "/", 1))
		if got, want := lastResponse(), first+3000; got != want {
			t.Errorf("got a last response at %d ms, want %d", got, want)
		}
	})
}

func TestDumpOfAFollowerHasTimeoutsAndThatOfTheLeaderEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		ensemble := zktest.NewEnsemble(2)
		defer ensemble.Close()
		nc, _ := attach(t, ensemble.Server(0), nil)
		defer nc.Close()
		for i, want := range []string{"Session Sets (1)/(1):\n1 expire at ", "Global Sessions(1):\n0x"} {
			if got := say(t, ensemble.Server(i), "dump"); !strings.Contains(got, want) {
				t.Errorf("server %d: got %q, want %q in it", i, got, want)
			}
		}
	})
}

func TestManySessionsWatchingAtOnce(t *testing.T) {
	const sessions, watches = 1000, 100
	srv := zktest.New(t, zktest.WithSessionTimeouts(time.Hour, time.Hour)) // no heartbeats, however slow the machine
	paths := make([]string, watches)
	for i := range paths {
		paths[i] = fmt.Sprintf("/n%03d", i)
	}
	conns := make([]net.Conn, sessions)
	var group sync.WaitGroup
	for i := range conns {
		conns[i], _ = attach(t, srv, nil)
		group.Go(func() {
			for _, path := range paths {
				conns[i].Write(request(zktest.OpExists, path, 1))
			}
			in := make([]byte, 20*watches)
			if _, err := io.ReadFull(conns[i], in); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := srv.WatchCount(); n != sessions*watches {
		t.Fatalf("got %d watches, want %d", n, sessions*watches)
	}
	for _, path := range paths {
		group.Go(func() {
			if err := srv.Create(path, nil); err != nil {
				t.Error(err)
			}
		})
	}
	for _, nc := range conns {
		group.Go(func() {
			nc.SetReadDeadline(time.Now().Add(5 * time.Minute))
			if _, err := io.ReadFull(nc, make([]byte, watches*(20+4+4+4+5))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := srv.WatchCount(); n != 0 {
		t.Fatal(n)
	}
	for _, nc := range conns {
		nc.Close()
	}
}

func TestServeListensAtTheGivenListener(t *testing.T) {
	srv := zktest.NewServer()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "ruok")
	if answer, err := io.ReadAll(conn); string(answer) != "imok" {
		t.Fatalf("%q, %v", answer, err)
	}
	srv.Close()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if err := srv.Serve(l); err == nil {
		t.Fatal("got no error of Serve after Close, want one")
	}
}
