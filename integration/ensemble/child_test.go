//go:build linux

package main_test

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/gocurator/curator/examples/programs"
)

// A child is a process that ends with the test, or with this process, and is waited for. It comes with the ends of its
// stdin and stdout.
type child struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func startChild(t *testing.T, command []string, env ...string) (*child, *os.File, *os.File) {
	t.Helper()
	childIn, in := pipe(t)
	out, childOut := pipe(t)
	c := &child{cmd: exec.Command(command[0], command[1:]...), exited: make(chan struct{})}
	c.cmd.Stdin, c.cmd.Stdout = childIn, childOut
	c.cmd.Env = append(os.Environ(), env...)
	programs.Instrument(t, c.cmd)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // to Pdeathsig the parent is the thread
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		_, _ = childIn.Close(), childOut.Close()
		started <- err
		if err == nil {
			_ = c.cmd.Wait()
			close(c.exited)
		}
	}()
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.kill)
	return c, in, out
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.exited
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}
