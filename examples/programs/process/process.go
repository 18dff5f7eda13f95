// Package process runs a program in a process of its own, for tests that wait for its lines and send it signals.
package process

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest/await"
)

// patience is for what must happen, on a machine that is busy.
const patience = time.Minute

// A Process is a program that runs, for one goroutine of a test.
type Process struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // its standard output; closed at the end of it
}

// Start starts a program, whose process has ended when the test has.
func Start(t *testing.T, binary string, args ...string) *Process {
	t.Helper()
	return StartCommand(t, exec.Command(binary, args...))
}

// StartCommand is Start for a command with more to it than arguments, which it prepares by [programs.Instrument]. Its
// standard output is the Process's to read; its standard error is the test's, unless the command has another one.
func StartCommand(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	programs.Instrument(t, cmd)
	if cmd.Stderr == nil {
		cmd.Stderr = os.Stderr
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &Process{t: t, cmd: cmd, lines: make(chan string, 100)}
	go p.read(out)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		p.reap()
	})
	return p
}

func (p *Process) read(out io.Reader) {
	defer close(p.lines)
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		p.lines <- scanner.Text()
	}
}

// Await waits for the next line with text in it, and passes over those before it.
func (p *Process) Await(text string) (line string) {
	p.t.Helper()
	var passed []string
	late := time.After(patience)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("the process ended before it printed %q, after\n%s", text, strings.Join(passed, "\n"))
			}
			if strings.Contains(line, text) {
				return line
			}
			passed = append(passed, line)
		case <-late:
			await.Fatalf(p.t, "the process to print %q (%v), got\n%s", text, patience, strings.Join(passed, "\n"))
		}
	}
}

// Signal sends the process a signal.
func (p *Process) Signal(signal os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		p.t.Fatal(err)
	}
}

// Wait waits for the end of the process, passes over the lines until then, and returns its exit status: -1 if a signal
// ended it. A process that does not end is killed, and ends the test.
func (p *Process) Wait() (status int) {
	p.t.Helper()
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	p.reap()
	if !late.Stop() {
		await.Fatalf(p.t, "the process to end (%v)", patience)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *Process) reap() {
	for range p.lines { // the end of its output comes before Wait closes the pipe
	}
	_ = p.cmd.Wait() // the status says how it ended
}
