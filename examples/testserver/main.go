// Testserver serves ZooKeeper from memory, to clients in any language, for their tests:
//
//	go run ./examples/testserver -listen 127.0.0.1:0
//
// Its first line of output is its address, at which it answers by then. Faults are ordered by lines on its standard input, or
// by -fault; "help" lists them. SIGINT, SIGTERM and the line "quit" end it, with status 0. It forgets everything then.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp), errors.Is(err, errUsage): // it has been said
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "testserver:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// settings are what the command line says.
type settings struct {
	listen   string
	readOnly bool
	faults   []string
	options  []zktest.Option
}

func parse(args []string, errs io.Writer) (s settings, err error) {
	set := flag.NewFlagSet("testserver", flag.ContinueOnError)
	set.SetOutput(errs)
	set.StringVar(&s.listen, "listen", "127.0.0.1:2181", "`address` to listen on; port 0 takes a free one")
	tick := set.Duration("tick", 100*time.Millisecond, "granularity of session expiry; a real server's is 2s")
	least := set.Duration("min-session", 0, "shortest session timeout (default two ticks)")
	most := set.Duration("max-session", time.Hour, "longest session timeout")
	reap := set.Duration("container-check", time.Second, "how often empty containers are looked for; a real server's is 1m")
	frame := set.Int("max-frame", 0xfffff, "longest request in `bytes`, jute.maxbuffer")
	version := set.String("version", "3.9.5", "the `release` of ZooKeeper whose answers are given")
	quotas := set.Bool("enforce-quotas", false, "refuse what exceeds a hard quota")
	super := set.String("super", "", "user:digest of the super user, whom no ACL stops")
	ttl := set.Bool("ttl", true, "let there be TTL nodes")
	verbose := set.Bool("v", false, "log connections that the server closes, with the reason, to standard error")
	set.BoolVar(&s.readOnly, "read-only", false, "serve only clients that are content to read")
	set.Func("fault", "a `command` to begin with, as on standard input; may be repeated", func(line string) error {
		s.faults = append(s.faults, line)
		return nil
	})
	if err := set.Parse(args); errors.Is(err, flag.ErrHelp) {
		return s, err
	} else if err != nil || set.NArg() > 0 {
		return s, errors.Join(errUsage, err)
	}
	if *least == 0 {
		*least = 2 * *tick
	}
	defer func() { // the options refuse what is impossible by a panic
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	s.options = []zktest.Option{
		zktest.WithTickTime(*tick), zktest.WithSessionTimeouts(*least, max(*least, *most)), zktest.WithContainerCheckInterval(*reap),
		zktest.WithMaxFrame(*frame), zktest.WithVersion(*version), zktest.WithSuperDigest(*super), zktest.WithTTLNodes(*ttl),
	}
	if *quotas {
		s.options = append(s.options, zktest.WithEnforcedQuotas())
	}
	if *verbose {
		s.options = append(s.options, zktest.WithLogger(slog.New(slog.NewTextHandler(errs, nil))))
	}
	return s, nil
}

func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) error {
	s, err := parse(args, errs)
	if err != nil {
		return err
	}
	srv := zktest.NewServer(s.options...)
	defer func() { _ = srv.Close() }()
	srv.SetReadOnly(s.readOnly)
	for _, line := range s.faults {
		if err := (console{srv, io.Discard}).do(line); err != nil { // the first line of output is the address
			return fmt.Errorf("-fault %q: %w", line, err)
		}
	}

	l, err := net.Listen("tcp", s.listen)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	ctx, quit := context.WithCancel(ctx)
	defer quit()
	console := console{srv, out}
	console.say("%v", l.Addr())
	go func() { // it ends with its input, or with the process
		for lines := bufio.NewScanner(in); lines.Scan(); {
			switch err := console.do(lines.Text()); {
			case errors.Is(err, errQuit):
				quit()
				return
			case err != nil:
				console.say("error: %v", err)
			}
		}
	}()
	select {
	case <-ctx.Done():
		return nil
	case err := <-served:
		return err
	}
}
