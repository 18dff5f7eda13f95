package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Exit statuses of the examples. A program that a signal ended before it was done has 128 and the signal's number, as
// in a shell.
const (
	StatusDone   = 0
	StatusFailed = 1
	StatusUsage  = 2
)

// A Command is an example as a program: what all of them do in the same way with flags, help, signals and exit
// statuses. It takes no arguments beside its flags.
type Command struct {
	Name  string
	About string // the help above the list of flags; Help makes it from the program's own comment

	// Run does the work. Its ctx ends with SIGINT and SIGTERM, and when out cannot be written to.
	Run func(ctx context.Context, out io.Writer) error
}

// Help is the comment at the head of a program's source, without its marks.
func Help(source string) string {
	comment, _, _ := strings.Cut(source, "\npackage ")
	lines := strings.Split(comment, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
	}
	return strings.TrimSpace(strings.Join(lines, "\n")) + "\n"
}

// Main runs the command in this process, and ends it.
func (c Command) Main(flags *flag.FlagSet) {
	ctx, stop := Signals(context.Background())
	status := c.Do(ctx, flags, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Do parses args, runs the command and returns its exit status. Help goes to out, and what is wrong to errs.
func (c Command) Do(ctx context.Context, flags *flag.FlagSet, args []string, out, errs io.Writer) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	checked := &output{to: out, failed: cancel}
	err := c.parse(flags, args, checked)
	if err == nil {
		err = c.Run(ctx, checked)
	}
	if failed := checked.err(); failed != nil { // whatever else went wrong, it did because of this
		err = failed
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprintf(errs, "%s: %v\n", c.Name, err)
	}
	status := Status(err)
	if status == StatusUsage {
		_, _ = fmt.Fprintf(errs, "%s -h says what it does and lists its flags\n", c.Name)
	}
	return status
}

func (c Command) parse(flags *flag.FlagSet, args []string, out io.Writer) error {
	flags.Init(c.Name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		_, _ = fmt.Fprintf(out, "%s\nFlags:\n", c.About)
		flags.SetOutput(out)
		flags.PrintDefaults()
		return err
	case err != nil:
		return &UsageError{err}
	case flags.NArg() > 0:
		return &UsageError{fmt.Errorf("unexpected arguments %q", flags.Args())}
	}
	return nil
}

// A UsageError says what is wrong with the command line.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// A StopError is the cause with which a program's context ends at a signal.
type StopError struct{ Signal os.Signal }

func (e *StopError) Error() string {
	return fmt.Sprintf("stopped by a signal (%v) before it was done", e.Signal)
}

// Signals returns a context that ends, with a *[StopError] as its cause, at the first SIGINT or SIGTERM. The second one
// ends the program on the spot.
func Signals(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	var once sync.Once
	go func() {
		select {
		case sig := <-signals:
			signal.Stop(signals)
			cancel(&StopError{sig})
		case <-ended:
		}
	}()
	return ctx, func() {
		once.Do(func() { close(ended) })
		signal.Stop(signals)
		cancel(nil)
	}
}

// Status is the exit status of a program that ends with err.
func Status(err error) int {
	var usage *UsageError
	var stopped *StopError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return StatusDone
	case errors.As(err, &usage):
		return StatusUsage
	case errors.As(err, &stopped):
		if number, ok := stopped.Signal.(syscall.Signal); ok {
			return 128 + int(number)
		}
	}
	return StatusFailed
}

// An output remembers the first write that failed: a program whose output is lost has failed.
type output struct {
	to     io.Writer
	failed func(error)

	mu    sync.Mutex
	first error
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.to.Write(p)
	if err != nil && o.first == nil {
		o.first = fmt.Errorf("its output is lost: %w", err)
		o.failed(o.first)
	}
	return n, err
}

func (o *output) err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.first
}

// name is the name of the program that runs.
func name() string { return strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") }
