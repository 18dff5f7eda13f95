// Package demo is what the examples have in common: where they run, clients whose connections can be broken, and an
// exit status that says whether what was promised held.
package demo

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// defaultSession is short, so that the examples are.
const defaultSession = 2 * time.Second

// An Example does something on the servers of env, and fails if it did not turn out as promised.
type Example func(ctx context.Context, env *Env) error

// An Option changes how [Main] runs an example.
type Option func(*Command)

// About gives the program's help: source is the program's file, embedded; the comment at its head is what -h prints.
func About(source string) Option { return func(c *Command) { c.About = Help(source) } }

// Main runs an example as a program: on the servers that -zk names, or on one in memory. It ends the process, with a
// status as [Command] has it.
func Main(example Example, options ...Option) {
	var connection Connection
	connection.Flags(flag.CommandLine)
	session := flag.Duration("session", defaultSession, "session `timeout` of the clients; servers grant at least two ticks, 4 s")
	command := Command{Name: name(), Run: func(ctx context.Context, out io.Writer) error {
		return run(ctx, name(), connection, *session, out, os.Stderr, example)
	}}
	for _, option := range options {
		option(&command)
	}
	command.Main(flag.CommandLine)
}

// Output runs an example on a server in memory, and returns what it printed.
func Output(ctx context.Context, example Example) (string, error) {
	var out bytes.Buffer
	err := run(ctx, "output", Connection{}, defaultSession, &out, io.Discard, example)
	return out.String(), err
}

// InOrder fails a test unless an example's output has all the texts, one behind the other.
func InOrder(t zktest.TB, output string, texts ...string) {
	t.Helper()
	rest := output
	for _, text := range texts {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Errorf("no %q in its place in\n%s", text, output)
			return
		}
		rest = after
	}
}

func run(
	ctx context.Context, name string, connection Connection, session time.Duration, out, errs io.Writer, example Example,
) error {
	options, err := connection.Options()
	if err != nil {
		return err
	}
	if session <= 0 {
		return &UsageError{fmt.Errorf("-session %v: must be positive", session)}
	}
	env := &Env{
		Real: connection.Servers != "", connect: connection.Servers, session: session, options: options,
		dial: new(net.Dialer).DialContext, name: name, out: out, begun: time.Now(),
	}
	if !env.Real {
		server := zktest.NewServer()
		defer server.Close() //nolint:errcheck // it returns nil
		env.connect, env.dial = "in-memory:2181", server.DialContext
	}
	if err := env.probe(ctx, errs); err != nil {
		return err // here, and not in the middle of the example
	}
	defer env.close()
	err = example(ctx, env)
	if err != nil && ctx.Err() != nil { // what it says about a wait that ended says less
		return context.Cause(ctx)
	}
	return err
}

// probe connects once.
func (e *Env) probe(ctx context.Context, errs io.Writer) error {
	if e.Real {
		_, _ = fmt.Fprintf(errs, "%s: connecting to %s\n", e.name, e.connect)
	}
	probe, err := framework.NewClient(e.connect, slices.Concat(e.options, []framework.Option{
		framework.WithDialer(e.dial), framework.WithConnectionTimeout(5 * time.Second),
	})...)
	if err != nil {
		return &UsageError{fmt.Errorf("-zk: %w", err)}
	}
	for range 3 { // five seconds for a server that refuses; fifteen, as an operation has, for one that is slow
		var notThere *net.OpError
		if _, err = probe.Session(ctx); err == nil || errors.As(err, &notThere) {
			break
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	_ = probe.Close() // a busy server may not confirm it in time; the session has no nodes
	return err
}

// An Env is where an example runs.
type Env struct {
	Real bool // real servers, not the one in memory

	connect string
	session time.Duration
	options []framework.Option
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	name    string
	begun   time.Time

	mu      sync.Mutex
	out     io.Writer
	clients []*framework.Client
}

// Client makes a client that is closed at the end of the example.
func (e *Env) Client(opts ...framework.Option) *framework.Client {
	client, _ := e.BreakableClient(opts...)
	return client
}

// BreakableClient makes a client with a line of its own to the servers.
func (e *Env) BreakableClient(opts ...framework.Option) (*framework.Client, *Line) {
	line := NewLine(e.dial)
	client, err := framework.NewClient(e.connect, slices.Concat(e.options, []framework.Option{
		framework.WithDialer(line.DialContext),
		framework.WithNamespace("examples/" + e.name), // on real servers, out of everybody's way
		framework.WithSessionTimeout(e.session),
	}, opts)...)
	if err != nil {
		panic(err) // a mistake in the example: the connect string was good a moment ago
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.clients = append(e.clients, client)
	return client, line
}

// close closes all clients. What it returns is left out: of a client that was cut off, the session ends by its timeout.
func (e *Env) close() {
	for _, client := range e.clients {
		_ = client.Close()
	}
}

// Say prints a line, with the time since the beginning.
func (e *Env) Say(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = fmt.Fprintf(e.out, "%6.3f  %s\n", time.Since(e.begun).Seconds(), fmt.Sprintf(format, args...))
}

// Print prints in that format.
func (e *Env) Print(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, _ = io.WriteString(e.out, text)
}

// Put gives a node its data, and makes it if there is none: as an ephemeral one, so that an example leaves nothing
// behind.
func Put(ctx context.Context, client *framework.Client, path, data string) error {
	_, _, err := client.Create(ctx, path, []byte(data),
		framework.WithMode(framework.Ephemeral), framework.CreatingParentContainersIfNeeded())
	if errors.Is(err, zk.ErrNodeExists) {
		_, err = client.Set(ctx, path, []byte(data), -1)
	}
	return err
}
