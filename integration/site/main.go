// Site builds the documentation site from the pages of the repository. There is no second text: each page is a Markdown
// file of the repository, or what go doc shows of a package.
//
//	cd integration/site
//	go run .                         # builds integration/.cache/site; open its index.html
//	go run . -serve 127.0.0.1:8000   # the same, and serves it until it is interrupted
//	go run . -o DIR -ref v0.1.0      # into another directory, with links to the code of a version
//
// It needs Python 3 with venv, and fetches MkDocs and its theme once (requirements.txt). mkdocs.yml has the order of
// the pages. The build fails if a page is missing there, if a link or an anchor leads nowhere, if a page would fetch
// anything from elsewhere, or if a page shows something else than GitHub does. The status is then 1, and 2 if the
// arguments are wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run is the program: it returns the exit status.
func run(ctx context.Context, args []string, out, errs io.Writer) int {
	flags := flag.NewFlagSet("site", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.Usage = func() {
		_, _ = fmt.Fprint(errs, "usage: go run . [flags]\n\nBuilds the documentation site from the pages of the repository.\n\n")
		flags.PrintDefaults()
	}
	dir := flags.String("dir", "../..", "the `directory` of the repository")
	to := flags.String("o", "", "the `directory` of the site (default integration/.cache/site)")
	ref := flags.String("ref", "main", "the `branch` or tag that links to code lead to")
	address := flags.String("serve", "", "then serve the site at an `address`, such as 127.0.0.1:8000")
	fetch := flags.Bool("fetch", false, "only fetch MkDocs and its theme")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	if flags.NArg() > 0 {
		_, _ = fmt.Fprintf(errs, "site: got %q, want flags only\n", flags.Args())
		return 2
	}
	if *to == "" {
		*to = filepath.Join(*dir, "integration", ".cache", "site")
	}
	python, err := mkdocs(ctx, *dir)
	if err == nil && !*fetch {
		s := site{dir: *dir, ref: *ref, python: python, playground: func(ctx context.Context, to string) error {
			env := []string{"GOFLAGS=", "GOWORK=off", "GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}
			return command(ctx, *dir, env, "go", "run", "-C", "examples", "./playground", "-build", to)
		}}
		if err = s.build(ctx, *to); err == nil {
			_, _ = fmt.Fprintln(out, filepath.Join(*to, "index.html"))
		}
	}
	if err == nil && *address != "" && !*fetch {
		err = serve(ctx, *address, *to, out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(errs, "site:", err)
		return 1
	}
	return 0
}

// serve shows the site in a browser until ctx ends.
func serve(ctx context.Context, address, dir string, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	_, _ = fmt.Fprintf(out, "http://%s/\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
