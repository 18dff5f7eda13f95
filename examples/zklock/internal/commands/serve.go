package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/run"
	"github.com/gocurator/curator/examples/zklock/internal/servers"
	"github.com/gocurator/curator/examples/zklock/web"
)

const serveHelp = `zklock serve [flags] [PATH]

Serves a page that shows the locks at and below a path, / if there is none: who
holds each, since when, how many wait, since when the first, and how often it is
acquired; of one lock, the first hundred of its queue and what happened lately;
and what doctor finds in the locks and the servers. The page says how old that
is, in red when it is older than the session timeout.

It reads from the servers only while a page is open: a count for each lock and
second, who holds and waits for locks that have changed, and all contenders only
of the lock that is looked at, when it has changed.

With -log DIR the page of a lock also shows its last hour, a lane for each
client: when it waited, and when it held. DIR has the transaction logs and
snapshots of a server, as for zklock history; give it several times for several
servers. Logs are read while that page is open, every ten seconds at most, and
less often if they are long. A DIR that cannot be read is named on the page.

It only reads, and listens on this machine alone, unless -listen says otherwise.
An address that others can reach needs -user-file, or -insecure. It speaks plain
HTTP: put a proxy with TLS before it where a network lies in between.

A Go program can have the same page in its own server: package
github.com/gocurator/curator/examples/zklock/web is an http.Handler.

Examples:

  zklock serve -zk zk1:2181                      # http://127.0.0.1:8420
  zklock serve -allow-revoke /locks
  zklock serve -log /var/lib/zookeeper           # on a server's machine
  zklock serve -listen :8420 -user-file who -host locks.example.org
` + statuses

func newServe(set *flag.FlagSet) *looker {
	listen := set.String("listen", "127.0.0.1:8420", "`address` to listen on; port 0 takes a free one")
	hosts := set.String("host", "", "`names`, with commas, under which browsers ask for the page (default: loopback)")
	users := set.String("user-file", "", "`file` with user:password, which each request must have")
	insecure := set.Bool("insecure", false, "let everybody in who can reach the address")
	revoke := set.Bool("allow-revoke", false, "let users ask holders to leave")
	hide := set.Bool("hide-data", false, "do not show what nodes contain")
	every := set.Duration("every", time.Second, "`duration` from look to look")
	var logs fileNames
	set.Var(&logs, "log", "`directory` with a server's logs, for the last hour of each lock; several times for several servers")
	return &looker{paths: [2]int{0, 1}, do: func(ctx context.Context, s *scene) error {
		secure, err := s.servers.TLS()
		if err != nil {
			return &statusError{run.ExitUsage, err}
		}
		options := web.Options{
			Client: s.client, Servers: s.servers.Servers(), TLS: secure, Every: *every, AllowRevoke: *revoke, HideData: *hide,
			Logs:   logs,
			Logger: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		}
		if len(s.paths) > 0 {
			options.Root = s.paths[0]
		}
		if *hosts != "" {
			options.Hosts = strings.Split(*hosts, ",")
		}
		if options.User, options.Password, err = readUser(*users); err != nil {
			return &statusError{run.ExitUsage, err}
		}
		if options.User == "" && !*insecure && !isLoopback(*listen) {
			return &statusError{run.ExitUsage, fmt.Errorf("-listen %s can be reached from other machines: "+
				"say who may enter with -user-file, or -insecure", *listen)}
		}
		if _, err := s.client.Session(ctx); err != nil {
			return err // now, and not when the first page is opened
		}
		return s.serve(ctx, *listen, options)
	}}
}

// readUser reads the line user:password.
func readUser(file string) (user, password string, err error) {
	if file == "" {
		return "", "", nil
	}
	if err := servers.Private(file); err != nil {
		return "", "", fmt.Errorf("-user-file: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", "", fmt.Errorf("-user-file: %w", err)
	}
	user, password, _ = strings.Cut(strings.TrimSpace(string(text)), ":")
	if user == "" || password == "" {
		return "", "", fmt.Errorf("-user-file: %s must have a line user:password", file)
	}
	return user, password, nil
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// serve serves until ctx ends.
func (s *scene) serve(ctx context.Context, address string, options web.Options) error {
	handler, err := web.New(options)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		handler.Close()
		return err
	}
	if err := s.print("http://" + listener.Addr().String() + "\n"); err != nil {
		handler.Close()
		return err
	}
	server := webServer(handler, 10*time.Second)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }() // ends with Shutdown
	select {
	case err := <-ended:
		handler.Close()
		return err
	case <-ctx.Done():
	}
	handler.Close() // ends the streams, which Shutdown would wait for
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = server.Shutdown(last)
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return err
}

// webServer waits no longer than patience for a request with its body. An answer may take any time: streams do.
func webServer(handler http.Handler, patience time.Duration) *http.Server {
	return &http.Server{Handler: handler, ReadHeaderTimeout: patience, ReadTimeout: patience}
}
