//go:build linux

package zklock_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// patience is for what must happen, on a machine that is busy.
const patience = 2 * time.Minute

// removal bounds waits for nodes that zklock has removed. A session's end, which removes them too, takes longer.
// A client that hears no answer for a second when it closes ends before the server has read that.
const removal = 30 * time.Second

// calm has zklock try for as long as tests wait to reach a server, which may be on a machine that stalls.
const calm = "ZKLOCK_CONNECT_TIMEOUT=1m"

// stampFile names, in the environment, the file that this test binary is to write stamps into, instead of running
// tests.
const stampFile = "ZKLOCK_TEST_STAMPS"

var program string // zklock

func TestMain(m *testing.M) {
	if file := os.Getenv(stampFile); file != "" {
		stamp(file)
		return
	}
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // under nohup, or in the background of a shell
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s) // a process that is started then does not ignore it
		}
	}
	flag.Parse()
	// what runs in parallel here waits most of the time, so processors are no measure
	_ = flag.Set("test.parallel", "8")
	os.Exit(withProgram(m.Run))
}

func withProgram(do func() int) int {
	dir, err := os.MkdirTemp("", "zklock")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // other users run the programs in it
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	program = filepath.Join(dir, "zklock")
	if output, err := programs.GoBuild(context.Background(), "-o", program, "github.com/gocurator/curator/examples/zklock").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return do()
}

// stamp writes its process, its user and the time, again and again, until it is killed; TERM it ignores. With the
// argument "daemon" it does so in a session of its own as well, by the program that the next argument names, if there
// is one.
func stamp(file string) {
	signal.Ignore(syscall.SIGTERM)
	becomeOwner()
	if len(os.Args) > 1 && os.Args[1] == "daemon" {
		daemon := exec.Command(os.Args[len(os.Args)-1])
		if len(os.Args) == 2 {
			daemon = exec.Command(os.Args[0])
		}
		daemon.Stdout, daemon.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := daemon.Start(); err != nil {
			panic(err)
		}
	}
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	said := false
	for range time.Tick(time.Millisecond) {
		var record [16]byte
		binary.LittleEndian.PutUint32(record[:], uint32(os.Getpid()))
		binary.LittleEndian.PutUint32(record[4:], uint32(os.Geteuid()))
		binary.LittleEndian.PutUint64(record[8:], uint64(monotonic()))
		if _, err := out.Write(record[:]); err != nil {
			return
		}
		if !said { // a process that is killed after this has written a stamp
			said = true
			fmt.Println("stamping")
		}
	}
}

// monotonic is CLOCK_MONOTONIC, which all processes share.
func monotonic() time.Duration {
	var at syscall.Timespec
	_, _, _ = syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 1, uintptr(unsafe.Pointer(&at)), 0)
	return time.Duration(at.Nano())
}

// stamps returns the first and the last stamp of a file, and how many processes wrote.
func stamps(t *testing.T, file string) (first, last time.Duration, writers int) {
	t.Helper()
	all, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	processes := map[uint64]bool{}
	for ; len(all) >= 16; all = all[16:] {
		processes[binary.LittleEndian.Uint64(all)] = true
		at := time.Duration(binary.LittleEndian.Uint64(all[8:]))
		if first == 0 || at < first {
			first = at
		}
		last = max(last, at)
	}
	return first, last, len(processes)
}

// An event is one line of -status-fd.
type event struct {
	Time      time.Time
	Event     string
	Path      string
	Node      string
	Token     int64
	PID       int
	Cgroup    string
	Code      *int
	Signal    string
	Ahead     int
	Behind    string
	Spare     *float64 `json:"spare_ms"`
	Reason    string
	Processes []string
}

// A running is a zklock run.
type running struct {
	t   *testing.T
	cmd *exec.Cmd

	mu     sync.Mutex
	events []event
	more   chan struct{} // closed and replaced at each event
	ended  chan struct{} // the status is known
	heard  chan struct{} // every event has been read
	told   chan struct{} // all processes that had its standard error are gone
	silent chan struct{} // all processes that had its standard output are gone
	stdout bytes.Buffer
	stderr bytes.Buffer
}

// start runs zklock run with arguments.
func start(t *testing.T, server string, args ...string) *running {
	t.Helper()
	return startWith(t, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, "ZOOKEEPER="+server) }, args...)
}

func startWith(t *testing.T, prepare func(*exec.Cmd), args ...string) *running {
	t.Helper()
	r := &running{
		t: t, more: make(chan struct{}), ended: make(chan struct{}),
		heard: make(chan struct{}), told: make(chan struct{}), silent: make(chan struct{}),
	}
	r.cmd = exec.Command(program, append([]string{"run", "-v", "-status-fd", "3"}, args...)...)
	r.cmd.Env = append(os.Environ(), "HOME=/nonexistent", calm)
	eventsIn, eventsOut := pipe(t)
	outIn, outOut := pipe(t)
	r.cmd.ExtraFiles = []*os.File{eventsOut}
	errIn, errOut := pipe(t)
	r.cmd.Stdout, r.cmd.Stderr = outOut, errOut // files: Wait would wait for those that inherit anything else
	prepare(r.cmd)
	programs.Instrument(t, r.cmd)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventsOut.Close()
	outOut.Close()
	errOut.Close()
	go r.readEvents(eventsIn)
	go func() {
		defer close(r.silent)
		_, _ = io.Copy(lockedWriter{&r.mu, &r.stdout}, outIn)
	}()
	go func() {
		defer close(r.told)
		_, _ = io.Copy(lockedWriter{&r.mu, &r.stderr}, errIn)
	}()
	go func() {
		defer close(r.ended)
		_ = r.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = r.cmd.Process.Signal(syscall.SIGCONT)
		_ = r.cmd.Process.Kill()
		<-r.ended
		r.allGone()
		if t.Failed() {
			r.mu.Lock()
			defer r.mu.Unlock()
			fmt.Fprintf(t.Output(), "zklock %s:\n%s", strings.Join(args, " "), r.stderr.String())
		}
	})
	return r
}

func pipe(t *testing.T) (in, out *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	return in, out
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (r *running) readEvents(in io.Reader) {
	defer close(r.heard)
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			r.t.Errorf("status: %q: %v", lines.Text(), err)
			return
		}
		r.mu.Lock()
		r.events = append(r.events, e)
		close(r.more)
		r.more = make(chan struct{})
		r.mu.Unlock()
	}
}

// seen returns the first event of that name, if it has come, and what is closed with the next one.
func (r *running) seen(name string) (e event, ok bool, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Event == name {
			return e, true, nil
		}
	}
	return event{}, false, r.more
}

// await waits for the first event of that name.
func (r *running) await(name string) event {
	r.t.Helper()
	late := time.After(patience)
	for {
		e, ok, more := r.seen(name)
		if ok {
			return e
		}
		select {
		case <-more:
		case <-late:
			await.Fatalf(r.t, "event %q (%v), got %s", name, patience, r.names())
		}
	}
}

// names returns the names of all events.
func (r *running) names() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var names []string
	for _, e := range r.events {
		names = append(names, e.Event)
	}
	return strings.Join(names, " ")
}

// status waits for the end of zklock and for its last event, and returns its status, 128 and the signal if it was one.
func (r *running) status() int {
	r.t.Helper()
	late := time.After(patience)
	for what, done := range map[string]chan struct{}{"zklock to end": r.ended, "the events of zklock to end": r.heard} {
		select {
		case <-done:
		case <-late:
			await.Fatalf(r.t, "%s (%v), got %s", what, patience, r.names())
		}
	}
	state, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		r.t.Fatal("no status")
	}
	if state.Signaled() {
		return 128 + int(state.Signal())
	}
	return state.ExitStatus()
}

func (r *running) wantStatus(want int) {
	r.t.Helper()
	if got := r.status(); got != want {
		r.t.Errorf("status %d, want %d; events: %s", got, want, r.names())
	}
}

// allGone waits until no process has the standard output that all of them inherited.
func (r *running) allGone() {
	r.t.Helper()
	select {
	case <-r.silent:
	case <-time.After(patience):
		r.t.Errorf("processes of zklock live on")
	}
}

func (r *running) signal(s syscall.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// output is what the processes have printed so far.
func (r *running) output() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stdout.String()
}

// wholeOutput is all that the processes have printed, when they are gone: their ends may be known before it is read.
func (r *running) wholeOutput() string {
	r.t.Helper()
	r.allGone()
	return r.output()
}

func (r *running) errors() string {
	select {
	case <-r.told:
	case <-time.After(patience):
		r.t.Error("processes of zklock live on")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stderr.String()
}

// said is what they have written to standard error so far.
func (r *running) said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stderr.String()
}

// lacking ends a test that the machine has something missing for, as CURATOR_INTEGRATION wants it.
func lacking(t *testing.T, what ...any) {
	t.Helper()
	if os.Getenv("CURATOR_INTEGRATION") == "required" {
		t.Fatal(what...)
	}
	t.Skip(what...)
}

// unable skips a test that nothing that could be installed lets this machine do. integration/run says which those are.
func unable(t *testing.T, why ...any) {
	t.Helper()
	t.Skip(append([]any{"this machine cannot do it: "}, why...)...)
}

// wantNodes waits until so many contenders stand at a lock.
func wantNodes(t *testing.T, server *zktest.Server, path string, want int) {
	t.Helper()
	got := server.Children(path)
	for end := time.Now().Add(removal); len(got) != want && time.Now().Before(end); got = server.Children(path) {
		time.Sleep(5 * time.Millisecond)
	}
	if len(got) != want {
		t.Errorf("%s: got nodes %v, want %d", path, got, want)
	}
}

// keeper returns the process that zklock has started.
func (r *running) keeper() int {
	r.t.Helper()
	if _, err := os.Stat(fmt.Sprintf("/proc/%d/task/%[1]d/children", r.cmd.Process.Pid)); err != nil {
		lacking(r.t, "this kernel does not list children: ", err)
	}
	var pid int
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", r.cmd.Process.Pid))
	for _, task := range tasks {
		children, err := os.ReadFile(task)
		if err == nil && len(bytes.TrimSpace(children)) > 0 {
			if _, err := fmt.Sscan(string(children), &pid); err != nil {
				r.t.Fatal(err)
			}
		}
	}
	if pid == 0 {
		r.t.Fatal(errors.New("zklock has no keeper"))
	}
	return pid
}
