// Vet checks the packages of a module for another system, their tests included, as go vet does there.
//
//	cd integration/vet
//	go run . -dir ../.. windows/amd64 ./...
//
// For every other system go vet first compiles the standard library and all packages, to learn their types. This
// program reads the types from the sources, which takes an eighth of the time. It runs every analyzer of go vet.
//
// Cgo is off. The exit status is 0 when nothing was found, 1 for findings and for packages that have errors, and 2 for
// wrong arguments.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

var (
	errUsage = errors.New("usage: vet [-dir directory] GOOS/GOARCH [packages]")
	errFound = errors.New("there are findings")
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "vet:", err)
	}
	switch {
	case errors.Is(err, errUsage):
		os.Exit(2)
	case err != nil:
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("vet", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	dir := flags.String("dir", ".", "`directory` of the module")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	system, architecture, found := strings.Cut(flags.Arg(0), "/")
	if !found {
		return errUsage
	}
	return vet(*dir, system, architecture, flags.Args()[1:], out)
}

// vet prints what it finds, a line for each. It fails if it finds anything.
func vet(dir, system, architecture string, patterns []string, out io.Writer) error {
	loaded, err := packages.Load(&packages.Config{
		Dir:   dir,
		Env:   append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0"),
		Tests: true,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedTypes | packages.NeedTypesInfo | packages.NeedSyntax | packages.NeedTypesSizes | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return err
	}
	if err := loadErrors(loaded, out); err != nil {
		return err
	}
	graph, err := checker.Analyze(suite, loaded, nil)
	if err != nil {
		return err
	}
	if err := graph.PrintText(out, -1); err != nil {
		return err
	}
	for action := range graph.All() {
		if action.IsRoot && (action.Err != nil || len(action.Diagnostics) > 0) {
			return errFound
		}
	}
	return nil
}

// loadErrors prints the errors of packages and of what they import, each once: a package that has tests of its own is
// loaded twice.
func loadErrors(loaded []*packages.Package, out io.Writer) error {
	if len(loaded) == 0 {
		return errors.New("no packages")
	}
	var all error
	printed := map[string]bool{}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			if !printed[err.Error()] {
				_, _ = fmt.Fprintln(out, err) // the status says it as well
			}
			printed[err.Error()] = true
			all = errFound
		}
	})
	return all
}
