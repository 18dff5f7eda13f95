//go:build unix

// Package behaviour has what every program of the examples does in the same way, as tests of its binary: help, mistakes
// on the command line, servers that are not there, lost output, and signals.
package behaviour

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// A Program is an example and how it differs from the others.
type Program struct {
	Name   string
	Binary string
	Sample string   // how to run it, as its help shows
	Args   []string // arguments that let it run without servers, if it needs some

	Extra       []string // arguments that are too many; {"more"} if nil
	OwnServer   bool     // has no -zk
	Brief       bool     // reads once and ends
	Usage       int      // the status for mistakes on the command line; 2 if 0
	Unreachable int      // the status if no server is there; 1 if 0
	Output      int      // the status if the output is lost; 1 if 0
	Stopped     func(signal syscall.Signal) (status int)
	Real        []string // arguments behind -zk, if Args are not right there
}

// patience is for programs that hang.
const patience = 5 * time.Minute

// Test checks one program.
func (p Program) Test(t *testing.T) {
	t.Run("help", p.help)
	t.Run("mistakes", p.mistakes)
	t.Run("lost output", p.lostOutput)
	if !p.OwnServer {
		t.Run("no server", p.noServer)
	}
	if !p.OwnServer && !p.Brief {
		t.Run("signals", p.signals)
	}
}

// run runs the program to its end.
func (p Program) run(t *testing.T, stdout *os.File, args ...string) (status int, out, errs string) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, fmt.Sprintf("%q to end", args))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Binary, args...)
	programs.Instrument(t, cmd)
	var outBuffer, errBuffer bytes.Buffer
	cmd.Stdout, cmd.Stderr = &outBuffer, &errBuffer
	if stdout != nil {
		cmd.Stdout = stdout
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		t.FailNow()
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), outBuffer.String(), errBuffer.String()
}

func (p Program) help(t *testing.T) {
	for _, flag := range []string{"-h", "-help"} {
		status, out, errs := p.run(t, nil, flag)
		if status != 0 || errs != "" {
			t.Errorf("%s: got status %d and %q on standard error, want 0 and nothing", flag, status, errs)
		}
		first, _, _ := strings.Cut(out, "\n")
		if !strings.HasPrefix(strings.ToLower(first), p.Name+" ") || len(out) > 8000 {
			t.Errorf("%s: got %d bytes that begin with %q, want what %s does", flag, len(out), first, p.Name)
		}
		for _, want := range []string{p.Sample, "\n  -"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: got no %q in\n%s", flag, want, out)
			}
		}
		for _, want := range []string{"-zk", "-auth", "-sasl", "-tls"} {
			if !p.OwnServer && !strings.Contains(out, want) {
				t.Errorf("%s: got no %q in\n%s", flag, want, out)
			}
		}
	}
}

func (p Program) mistakes(t *testing.T) {
	extra := p.Extra
	if extra == nil {
		extra = []string{"more"}
	}
	want := p.Usage
	if want == 0 {
		want = 2
	}
	cases := [][]string{{"-nonsense"}, extra}
	if !p.OwnServer {
		cases = append(cases, []string{"-zk", "a:1;b:2"}, []string{"-auth", "/none", "-zk", "localhost:1"},
			[]string{"-sasl", "/none", "-zk", "localhost:1"}, []string{"-tls"}, []string{"-sasl", "/none"})
	}
	for _, args := range cases {
		status, out, errs := p.run(t, nil, args...)
		if status != want || out != "" || !strings.HasPrefix(errs, p.Name+": ") || strings.Count(errs, "\n") > 4 {
			t.Errorf("%q: got status %d, %q and %q; want %d, no output, and a line that says what is wrong", args, status, out, errs, want)
		}
		named := strings.TrimLeft(args[len(args)-1], "-")
		if len(args) > 1 && args[0][0] == '-' { // name a flag with a value by the flag
			named = strings.TrimLeft(args[0], "-")
		}
		if !strings.Contains(errs, named) {
			t.Errorf("%q: got %q, want the mistake named", args, errs)
		}
	}
}

func (p Program) lostOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		if os.Getenv("CURATOR_INTEGRATION") == "required" {
			t.Fatal(err)
		}
		t.Skip("there is no /dev/full here: ", err)
	}
	defer full.Close()
	want := p.Output
	if want == 0 {
		want = 1
	}
	for _, args := range [][]string{p.Args, {"-h"}} {
		status, _, errs := p.run(t, full, args...)
		if status != want || !strings.Contains(errs, "no space left") {
			t.Errorf("%q: got status %d and %q, want %d and the reason", args, status, errs, want)
		}
	}
}

func (p Program) noServer(t *testing.T) {
	want := p.Unreachable
	if want == 0 {
		want = 1
	}
	const noServer = "127.0.0.1:1"
	status, out, errs := p.run(t, nil, append([]string{"-zk", noServer}, p.real()...)...)
	if status != want || out != "" {
		t.Errorf("got status %d and %q, want %d and no output", status, out, want)
	}
	if first, rest, _ := strings.Cut(errs, "\n"); first != p.Name+": connecting to "+noServer || !strings.Contains(rest, noServer) {
		t.Errorf("got %q, want a line that says where it connects to, and one that says why not", errs)
	}
}

// signals stops the program while the server does not answer, which is the worst moment.
func (p Program) signals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		server := zktest.NewServer()
		created := make(chan struct{})
		var once sync.Once
		server.Observe(func(r zktest.Request) {
			switch r.Op {
			case zktest.OpCreate, zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpMulti:
				server.Freeze()
				once.Do(func() { close(created) })
			}
		})
		status, errs := p.stop(t, signal, append([]string{"-zk", server.Addr()}, p.real()...), created)
		_ = server.Close()
		want := 128 + int(signal)
		if p.Stopped != nil {
			want = p.Stopped(signal)
		}
		if status != want || !strings.Contains(errs, p.Name+": ") {
			t.Errorf("%v: got status %d and %q, want %d and the reason", signal, status, errs, want)
		}
	}
}

// stop starts the program and sends it a signal when it is ready.
func (p Program) stop(t *testing.T, signal syscall.Signal, args []string, ready <-chan struct{}) (status int, errs string) {
	t.Helper()
	ctx, cancel := await.Context(t.Context(), t, patience, fmt.Sprintf("%q to be ready and to end after %v", args, signal))
	defer cancel()
	cmd := exec.CommandContext(ctx, p.Binary, args...)
	programs.Instrument(t, cmd)
	var errBuffer bytes.Buffer
	cmd.Stderr = &errBuffer
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	select {
	case <-ready:
		_ = cmd.Process.Signal(signal)
	case <-ended:
		if ctx.Err() == nil {
			t.Errorf("%q: ended by itself", args)
		}
	}
	<-ended
	if ctx.Err() != nil {
		t.FailNow()
	}
	return cmd.ProcessState.ExitCode(), errBuffer.String()
}

func (p Program) real() []string {
	if p.Real != nil {
		return p.Real
	}
	return p.Args
}
