// Package server starts what the benchmark needs: servers, workers, and proxies that delay. Everything listens on
// 127.0.0.1 only, is a child of the benchmark, and ends with it in whatever way that ends.
package server

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A Process is a child.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	cmd    *exec.Cmd
	log    string
	exited chan struct{} // closed when it has been waited for
	err    error         // how it ended; to be read after exited is closed
}

// Start starts a program. What it says on stderr goes to the file log, and what it says on stdout, too, unless it is
// piped.
func Start(log string, piped bool, name string, args ...string) (*Process, error) {
	return start(exec.Command(name, args...), log, piped)
}

func start(c *exec.Cmd, log string, piped bool) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	p := &Process{cmd: c, log: log, exited: make(chan struct{})}
	if c.SysProcAttr == nil {
		c.SysProcAttr = new(syscall.SysProcAttr)
	}
	c.SysProcAttr.Pdeathsig = syscall.SIGKILL
	p.cmd.Stdout, p.cmd.Stderr = file, file
	var child []*os.File
	if piped {
		stdin, in, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		out, stdout, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.cmd.Stdin, p.cmd.Stdout, p.Stdin, p.Stdout = stdin, stdout, in, out
		child = []*os.File{stdin, stdout}
	}
	started := make(chan error)
	go func() {
		// To the kernel the parent is the thread that made the child: the child would end with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		for _, f := range child {
			f.Close()
		}
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// PID returns the process's id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the process has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// children returns the ids of the processes that this one has started, and that still run.
func (p *Process) children() []int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.PID(), p.PID()))
	if err != nil {
		return nil // the process has ended
	}
	var pids []int
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// end sends a signal, and kills a process that does not heed it in time.
func (p *Process) end(by syscall.Signal) {
	_ = p.cmd.Process.Signal(by) // fails only if it has ended already
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
	}
	p.Kill()
}

// Kill ends the process, and returns when it is gone.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended already
	<-p.exited
	if p.Stdin != nil {
		p.Stdin.Close()
		p.Stdout.Close()
	}
}

// Log returns the end of what the process has said.
func (p *Process) Log() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2048):])
}

// freePort returns an unused port of loopback.
func freePort() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	addr, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		return "", fmt.Errorf("no port in %v", listener.Addr())
	}
	return strconv.Itoa(addr.Port), nil
}
