// Playground shows locks at work in a browser: each worker is a process of its own in the page, with the real client,
// and the server is ZooKeeper in memory. Cables can be cut, processes suspended and killed, the server frozen.
//
//	go run -C examples ./playground               # serves it on a free port of this machine, until Ctrl-C
//	go run -C examples ./playground -build DIR    # writes its files, for any web server
//	go run -C examples ./playground -files DIR    # serves such files, without building them again
//
// It builds the program of the page first, for which it needs a clone of Curator for Go and the go command. Releases
// of testserver have the files: testserver -playground 127.0.0.1:8080.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/examples/playground/internal/build"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() {
	ctx, stop := demo.Signals(context.Background())
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the whole program. It returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("playground", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:0", "`address` to serve on; port 0 takes a free one")
	dir := flags.String("build", "", "write the files to this `directory`, and do not serve them")
	files := flags.String("files", "", "serve the files that -build has written to this `directory`, and build nothing")
	return demo.Command{Name: "playground", About: demo.Help(source), Run: func(ctx context.Context, out io.Writer) error {
		switch {
		case *dir != "" && *files != "":
			return &demo.UsageError{Err: errors.New("-build writes files and -files serves them: use one of the two")}
		case *dir != "":
			return build.Write(ctx, ".", *dir)
		}
		return serve(ctx, *listen, *files, out, stderr)
	}}.Do(ctx, flags, args, stdout, stderr)
}

// serve serves the files in dir until ctx ends. If dir is empty, it builds them first.
func serve(ctx context.Context, address, dir string, out, errs io.Writer) error {
	if dir != "" {
		if err := build.Complete(dir); err != nil {
			return &demo.UsageError{Err: fmt.Errorf("-files: %w", err)}
		}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return &demo.UsageError{Err: fmt.Errorf("-listen: %w", err)}
	}
	defer listener.Close()
	if dir == "" {
		if dir, err = os.MkdirTemp("", "playground-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary directory
		_, _ = fmt.Fprintln(errs, "playground: building the program of the page")
		if err := build.Write(ctx, ".", dir); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(out, "http://%v/\n", listener.Addr())
	server := &http.Server{Handler: http.FileServerFS(os.DirFS(dir)), ReadHeaderTimeout: 10 * time.Second}
	ended := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer ended()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil // a signal is how it ends
}
