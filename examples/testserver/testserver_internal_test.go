package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework/zktest/await"
)

// serve runs the program in a goroutine and returns its address, and a function that gives an order and returns the
// answer.
func serve(t *testing.T, args ...string) (addr string, order func(line string) string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		defer close(ended) // read twice if the test has failed
		ended <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), inR, outW, io.Discard)
		outW.Close()
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		go func() { _, _ = io.Copy(io.Discard, outR) }()
		if status := <-ended; status != 0 {
			t.Errorf("got status %d, want 0", status)
		}
	})
	out := bufio.NewReader(outR)
	line := func() string {
		s, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err, <-ended)
		}
		return strings.TrimSpace(s)
	}
	return line(), func(s string) string {
		if _, err := io.WriteString(inW, s+"\n"); err != nil {
			t.Fatal(err)
		}
		return line()
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// dial makes a client, which is not connected yet. Its session outlasts a machine that stands still.
func dial(t *testing.T, addr string) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	conn, events, err := zk.Connect([]string{addr}, time.Minute, zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn, events
}

// connect makes a client that has a session. Until then go-zookeeper's requests fail after each attempt to connect,
// which it gives up after a second.
func connect(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, events := dial(t, addr)
	for late := time.After(time.Minute); conn.State() != zk.StateHasSession; {
		select {
		case <-events:
		case <-late:
			await.Fatalf(t, "a session at %s (a minute), got state %v", addr, conn.State())
		}
	}
	return conn
}

func TestFaultsAreOrderedByLines(t *testing.T) {
	addr, order := serve(t, "-fault", "create /a before")
	conn := connect(t, addr)
	if data, _, err := conn.Get("/a"); err != nil || string(data) != "before" {
		t.Fatalf("%q, %v", data, err)
	}
	for _, line := range []string{"drop-reply create /b", "set /a after the start", "counter / 7"} {
		if got := order(line); got != "ok" {
			t.Fatalf("%s: %s", line, got)
		}
	}
	if _, err := conn.Create("/b", nil, 0, zk.WorldACL(zk.PermAll)); !errors.Is(err, zk.ErrConnectionClosed) {
		t.Fatalf("a create whose answer was dropped: %v", err)
	}
	there, _, err := conn.Exists("/b")
	for errors.Is(err, zk.ErrNoServer) { // go-zookeeper's error until it has tried its only server again
		there, _, err = conn.Exists("/b")
	}
	if err != nil || !there {
		t.Fatalf("%v, %v", there, err)
	}
	if path, err := conn.Create("/s-", nil, zk.FlagSequence, zk.WorldACL(zk.PermAll)); err != nil || path != "/s-0000000008" {
		t.Fatalf("%q, %v", path, err)
	}
	if data, _, err := conn.Get("/a"); err != nil || string(data) != "after the start" {
		t.Fatalf("%q, %v", data, err)
	}
	if got := order("sessions"); !strings.HasPrefix(got, "0x") || !strings.Contains(got, "timeout=1m0s connected=true") {
		t.Fatal(got)
	}
}

func TestWrongLinesAreRefused(t *testing.T) {
	_, order := serve(t)
	for _, line := range []string{
		"dance", "expire", "expire x", "drop-reply createe /a", "drop-reply create /a x", "delay-reply x create /a",
		"refuse perhaps", "counter / 2147483648", "create a", "delete /none", "quit now",
	} {
		if got := order(line); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %s", line, got)
		}
	}
}

func TestReadOnlyServerTurnsWritersAway(t *testing.T) {
	addr, order := serve(t, "-read-only")
	conn, _ := dial(t, addr)
	if _, _, err := conn.Exists("/"); !errors.Is(err, zk.ErrNoServer) {
		t.Fatalf("a client that wants to write was served: %v", err)
	}
	order("read-only false")
	for {
		switch _, err := conn.Create("/a", nil, 0, zk.WorldACL(zk.PermAll)); {
		case err == nil:
			return
		case !errors.Is(err, zk.ErrNoServer): // it goes on trying once a second
			t.Fatal(err)
		}
	}
}

func TestConnectionsAreRefusedAsByAMachineWithoutAServer(t *testing.T) {
	addr, order := serve(t)
	_, began := serve(t, "-fault", "refuse true") // also from the beginning
	if got := began("refuse false"); got != "ok" {
		t.Errorf("got %q, want ok", got)
	}
	for range 2 {
		if got := order("refuse true"); got != "ok" {
			t.Fatalf("got %q, want ok", got)
		}
		if conn, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("got %v, %v, want %v", conn, err, syscall.ECONNREFUSED)
		}
		if got := order("refuse false"); got != "ok" {
			t.Fatalf("got %q, want ok", got)
		}
		if _, _, err := connect(t, addr).Exists("/"); err != nil {
			t.Errorf("got %v, want a server again", err)
		}
	}
}

func TestItSaysWhyItEnds(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	stop(&demo.StopError{Signal: syscall.SIGTERM})
	for want, c := range map[string]struct {
		ctx context.Context
		in  string
	}{
		`ends: the line "quit"`:   {t.Context(), "quit\n"},
		"ends: signal terminated": {stopped, ""},
	} {
		var out, errs bytes.Buffer
		got := run(c.ctx, []string{"-listen=127.0.0.1:0"}, strings.NewReader(c.in), &out, &errs)
		if got != 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("got status %d and %q, want 0 and %q", got, &errs, want)
		}
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, args := range []string{"-tick 0s", "-tick x", "-version three", "-listen nowhere", "-fault dance", "stray", "-max-frame -1"} {
		var errs bytes.Buffer
		if got := run(t.Context(), strings.Fields(args), strings.NewReader(""), io.Discard, &errs); got == 0 || errs.Len() == 0 {
			t.Errorf("%s: got status %d and %q, want a failure and its reason", args, got, &errs)
		}
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	stopped, stop := context.WithCancel(t.Context()) // a server that starts nevertheless ends without delay
	stop()
	for args, want := range map[string]string{
		"-version 9.9":                     "-version 9.9: there is no such ZooKeeper; want a release of 3.4 to 3.9",
		"-version 3.10":                    "there is no such ZooKeeper",
		"-version 3.8.6.1":                 "there is no such ZooKeeper",
		"-listen nowhere":                  "-listen nowhere: want an address of this machine and a port, as in 127.0.0.1:2181",
		"-listen " + taken.Addr().String(): "-listen " + taken.Addr().String() + ": cannot listen there: address already in use; port 0 takes a free one",
	} {
		var errs bytes.Buffer
		got := run(stopped, strings.Fields(args), strings.NewReader(""), io.Discard, &errs)
		if got == 0 || !strings.Contains(errs.String(), want) || strings.Contains(errs.String(), "listen tcp") {
			t.Errorf("%s: got status %d and %q, want a failure and %q", args, got, &errs, want)
		}
	}
	for _, version := range []string{"3.4.14", "3.9.5", "3.8"} {
		if !released.MatchString(version) {
			t.Errorf("got that there is no ZooKeeper %s, want that there is", version)
		}
	}
}

// TestMain is the program itself if the environment says so.
func TestMain(m *testing.M) {
	if os.Getenv("TESTSERVER_ARGS") != "" {
		os.Args = append(os.Args[:1], strings.Fields(os.Getenv("TESTSERVER_ARGS"))...)
		main()
		return
	}
	os.Exit(m.Run())
}

func TestSIGTERMEndsItCleanly(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TESTSERVER_ARGS=-listen 127.0.0.1:0")
	p := process.StartCommand(t, cmd)
	conn := connect(t, p.Await(""))
	if _, _, err := conn.Exists("/"); err != nil {
		t.Fatal(err)
	}
	p.Signal(syscall.SIGTERM)
	if got := p.Wait(); got != 0 {
		t.Errorf("got status %d, want 0", got)
	}
}

func TestPlaygroundIsServedBesideTheServer(t *testing.T) {
	files := fstest.MapFS{"index.html": {Data: []byte("the page")}}
	server, err := servePlayground("127.0.0.1:0", files, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	answer, err := http.Get("http://" + server.Addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); err != nil || string(got) != "the page" {
		t.Errorf("got %q, %v, want the page", got, err)
	}
	if _, err := servePlayground("nowhere", files, t.Output()); err == nil {
		t.Error("got no error for an address without a port")
	}
	if playground != nil {
		return // this test was built with the page
	}
	var said bytes.Buffer
	args := []string{"-listen", "127.0.0.1:0", "-playground", "127.0.0.1:0"}
	if status := run(t.Context(), args, strings.NewReader(""), io.Discard, &said); status != demo.StatusUsage || !strings.Contains(said.String(), "go run -C examples ./playground") {
		t.Errorf("got %d, %q without the page, want %d and how to have it", status, said.String(), demo.StatusUsage)
	}
}
