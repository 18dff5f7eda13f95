//go:build linux

package drivers

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A Process is a driver. Its methods are safe for concurrent use.
type Process struct {
	Language string
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	exited   chan struct{} // closed when the process has been waited for
	Stderr   *Tail         // what it has said on stderr

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan godriver.Answer
	gone    bool
	events  func(godriver.Answer) // never nil
}

// ErrGone is the error of an answer that the driver has not lived to give.
var ErrGone = errors.New("the driver has ended")

// Ours is the language of the drivers of this library.
const Ours = "go"

// Env makes the test binary a driver.
const Env = "CURATOR_INTEROP_DRIVER"

// Start starts a driver. It has to be killed; with this process it dies in any case.
func Start(t testing.TB, language string, command []string, events func(godriver.Answer)) *Process {
	t.Helper()
	if events == nil {
		events = func(godriver.Answer) {}
	}
	p := &Process{
		Language: language, cmd: exec.Command(command[0], command[1:]...), exited: make(chan struct{}),
		Stderr: &Tail{}, waiting: map[int64]chan godriver.Answer{}, events: events,
	}
	p.cmd.Env = append(os.Environ(), Env+"=1")
	p.cmd.Stderr = p.Stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if language == Ours { // go-zookeeper's connections are not free of races when they are lost
		programs.Instrument(t, p.cmd)
	}
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan error)
	go p.run(stdout, started)
	if err := <-started; err != nil {
		t.Fatalf("%s driver: %v", language, err)
	}
	return p
}

// run starts the process and waits for it. It keeps its thread, which to the kernel is the parent that Pdeathsig is
// about.
func (p *Process) run(stdout io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	listened := make(chan struct{})
	go func() {
		defer close(listened)
		p.listen(stdout)
	}()
	<-listened // Wait must not close the pipe while there is something in it
	_ = p.cmd.Wait()
	p.mu.Lock()
	p.gone = true
	waiting := p.waiting
	p.waiting = nil
	p.mu.Unlock()
	for _, answer := range waiting {
		answer <- godriver.Answer{Error: ErrGone.Error()}
	}
	close(p.exited)
}

func (p *Process) listen(stdout io.Reader) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var a godriver.Answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			_, _ = p.Stderr.Write(append(lines.Bytes(), '\n')) // the last line of a killed process, or a stray print
			continue
		}
		if a.ID == 0 {
			p.events(a)
			continue
		}
		p.mu.Lock()
		answer := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		p.mu.Unlock()
		if answer != nil {
			answer <- a
		}
	}
}

// Order gives an order. The answer comes later; if the process ends before, it says so.
func (p *Process) Order(order godriver.Order) <-chan godriver.Answer {
	answer := make(chan godriver.Answer, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		answer <- godriver.Answer{Error: ErrGone.Error()}
		return answer
	}
	p.next++
	order.ID = p.next
	p.waiting[order.ID] = answer
	line, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	_, _ = p.stdin.Write(append(line, '\n')) // it fails if the process is gone, and then the answer says that
	return answer
}

// Kill ends the process as kill -9 does and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// Freeze stops the process and returns when every thread of it stands.
func (p *Process) Freeze(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Errorf("freeze the %s driver: %v", p.Language, err)
		return
	}
	for {
		const idIsPID = 1 // P_PID
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, idIsPID, uintptr(p.cmd.Process.Pid), 0, syscall.WSTOPPED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// Thaw lets a frozen process go on.
func (p *Process) Thaw(t testing.TB) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Errorf("thaw the %s driver: %v", p.Language, err)
	}
}

// A Tail keeps the last of what is written to it.
type Tail struct {
	mu  sync.Mutex
	all []byte
}

func (w *Tail) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, b...)
	w.all = w.all[max(0, len(w.all)-4096):]
	return len(b), nil
}

func (w *Tail) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.all)
}
