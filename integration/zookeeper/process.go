//go:build unix

package zookeeper

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// A process is a child that is waited for: no zombie is left, and kill returns only when it is gone.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has been waited for
	err    error         // how it ended; to be read after exited is closed
}

func startProcess(logFile, name string, args ...string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()

	p := &process{cmd: exec.Command(name, args...), exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = dieWithParent()

	started := make(chan error)
	go func() {
		// To the kernel the parent is the thread that made the child, not the process. The thread is kept until the
		// child has ended, since the child would end with it.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.exited)
		}
	}()
	return p, <-started
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// kill ends the process, frozen or not, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only if it has ended already
	<-p.exited
}

func (p *process) freeze() error {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return awaitStopped(p.pid())
}

// signal is for signals other than kill; sending one to a process that has ended is an error.
func (p *process) signal(sig syscall.Signal) error {
	select {
	case <-p.exited:
		return errors.New("the server is not running")
	default:
		return p.cmd.Process.Signal(sig)
	}
}
