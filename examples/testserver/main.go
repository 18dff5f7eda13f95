// Testserver serves ZooKeeper from memory, to clients in any language, for their tests:
//
//	testserver -listen 127.0.0.1:0
//
// In a clone of Curator for Go, "go run -C examples ./testserver" does the same. Its first line of output is its address,
// at which it answers by then. Faults are ordered by lines on its standard input, or by -fault; "help" lists them. It
// forgets everything when it ends, and says to standard error why it does: SIGINT, SIGTERM and the line "quit" end it
// with status 0.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework/zktest"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() {
	ctx, stop := demo.Signals(context.Background())
	status := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	flags := flag.NewFlagSet("testserver", flag.ContinueOnError)
	var s settings
	s.flags(flags)
	return demo.Command{Name: "testserver", About: demo.Help(source), Run: func(ctx context.Context, out io.Writer) error {
		options, err := s.options(errs)
		if err != nil {
			return &demo.UsageError{Err: err}
		}
		return s.serve(ctx, zktest.NewServer(options...), in, out, errs)
	}}.Do(ctx, flags, args, out, errs)
}

// settings are what the command line says.
type settings struct {
	listen   string
	readOnly bool
	faults   []string

	tick, least, most, reap time.Duration
	frame                   int
	version, super          string
	quotas, ttl, verbose    bool
	playground              string
}

func (s *settings) flags(set *flag.FlagSet) {
	set.StringVar(&s.listen, "listen", "127.0.0.1:2181", "`address` to listen on; port 0 takes a free one")
	set.DurationVar(&s.tick, "tick", 100*time.Millisecond, "granularity of session expiry; a real server's is 2s")
	set.DurationVar(&s.least, "min-session", 0, "shortest session timeout (default two ticks)")
	set.DurationVar(&s.most, "max-session", time.Hour, "longest session timeout")
	set.DurationVar(&s.reap, "container-check", time.Second, "how often empty containers are looked for; a real server's is 1m")
	set.IntVar(&s.frame, "max-frame", 0xfffff, "longest request in `bytes`, jute.maxbuffer")
	set.StringVar(&s.version, "version", "3.9.5", "the `release` of ZooKeeper whose answers are given")
	set.BoolVar(&s.quotas, "enforce-quotas", false, "refuse what exceeds a hard quota")
	set.StringVar(&s.super, "super", "", "user:digest of the super user, whom no ACL stops")
	set.BoolVar(&s.ttl, "ttl", true, "let there be TTL nodes")
	set.BoolVar(&s.verbose, "v", false, "log connections that the server closes, with the reason, to standard error")
	set.StringVar(&s.playground, "playground", "", "also serve the playground, a page for browsers, at this `address`")
	set.BoolVar(&s.readOnly, "read-only", false, "serve only clients that are content to read")
	set.Func("fault", "a `command` to begin with, as on standard input; may be repeated", func(line string) error {
		s.faults = append(s.faults, line)
		return nil
	})
}

// options returns the server's options, which refuse impossible values by a panic.
func (s *settings) options(errs io.Writer) (options []zktest.Option, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	if !released.MatchString(s.version) {
		return nil, fmt.Errorf("-version %s: there is no such ZooKeeper; want a release of 3.4 to 3.9, such as 3.8.6, or 3.8 for its last", s.version)
	}
	least := s.least
	if least == 0 {
		least = 2 * s.tick
	}
	options = []zktest.Option{
		zktest.WithTickTime(s.tick), zktest.WithSessionTimeouts(least, max(least, s.most)), zktest.WithContainerCheckInterval(s.reap),
		zktest.WithMaxFrame(s.frame), zktest.WithVersion(s.version), zktest.WithSuperDigest(s.super), zktest.WithTTLNodes(s.ttl),
	}
	if s.quotas {
		options = append(options, zktest.WithEnforcedQuotas())
	}
	if s.verbose {
		options = append(options, zktest.WithLogger(slog.New(slog.NewTextHandler(errs, nil))))
	}
	return options, nil
}

// released are the versions that ZooKeeper has, with a patch or without.
var released = regexp.MustCompile(`^3\.[4-9](\.\d{1,3})?$`)

// serve serves until a signal, the line "quit", or a failure of the listener or of the output.
func (s *settings) serve(ctx context.Context, srv *zktest.Server, in io.Reader, out, errs io.Writer) error {
	defer func() { _ = srv.Close() }()
	srv.SetReadOnly(s.readOnly)
	door := newDoor(srv, s.listen)
	for _, line := range s.faults {
		if err := (console{srv, door, io.Discard}).do(line); err != nil { // the first line of output is the address
			return &demo.UsageError{Err: fmt.Errorf("-fault %q: %w", line, err)}
		}
	}
	if err := door.open(); err != nil {
		return err
	}
	if s.playground != "" {
		page, err := servePlayground(s.playground, playground, errs)
		if err != nil {
			return &demo.UsageError{Err: fmt.Errorf("-playground %s: %w", s.playground, err)}
		}
		defer page.Close() //nolint:errcheck // nothing is lost
		_, _ = fmt.Fprintf(errs, "testserver: the playground is at http://%s/\n", page.Addr)
	}
	ctx, quit := context.WithCancelCause(ctx)
	defer quit(nil)
	console := console{srv, door, out}
	console.say("%v", door.address())
	go console.read(in, quit) // it ends with its input, or with the process
	select {
	case <-ctx.Done():
	case err := <-door.failed:
		return err
	}
	cause := context.Cause(ctx)
	var signal *demo.StopError
	if errors.As(cause, &signal) {
		cause = fmt.Errorf("signal %v", signal.Signal)
	}
	_, _ = fmt.Fprintf(errs, "testserver: ends: %v\n", cause)
	return nil
}
