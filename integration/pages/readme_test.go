package pages_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"iter"
	"log"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/cache"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// The code of README.md and of the pages below stands in this file, where it is compiled and run.
// TestPagesShowCodeThatRuns compares. The program of README.md has a test of its own.

func Example() {
	withMutex(func(ctx context.Context, mutex *locks.InterProcessMutex) {
		err := locks.Do(ctx, mutex, func(ctx context.Context) error {
			return audit(ctx, mutex) // an Acquire with this ctx re-enters
		})
		fmt.Println(err)
	})
	// Output: <nil>
}

func audit(ctx context.Context, mutex *locks.InterProcessMutex) error {
	return locks.Do(ctx, mutex, func(ctx context.Context) error { return ctx.Err() })
}

func withMutex(do func(ctx context.Context, mutex *locks.InterProcessMutex)) {
	server := zktest.NewServer()
	defer server.Close()
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	do(context.Background(), locks.NewInterProcessMutex(client, "/locks/nightly"))
}

func TestWorkStopsWhenTheLockIsLost(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		network := zktest.New(t).NewLink()
		client, err := framework.NewClient("any:2181", framework.WithDialer(network.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		lease, err := locks.NewInterProcessMutex(client, "/locks/nightly").Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx := lease.Context(t.Context())

		network.Cut()
		<-ctx.Done() // most of a minute, in no time
		if cause := context.Cause(ctx); !errors.Is(cause, locks.ErrLeaseLost) {
			t.Errorf("the work ended with %v", cause)
		}
	})
}

func TestLateHolderWritesNothing(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := server.Create("/report", nil); err != nil {
			t.Fatal(err)
		}
		ctx := t.Context()
		lease, err := locks.NewInterProcessMutex(client, "/locks/nightly").Acquire(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := fenced(ctx, client, lease, "in time"); err != nil {
			t.Error(err)
		}
		// The node is gone, and the holder does not know it yet.
		if err := server.Delete("/locks/nightly/" + lease.NodeName()); err != nil {
			t.Fatal(err)
		}
		if err := fenced(ctx, client, lease, "late"); err == nil {
			t.Error("a late holder wrote")
		}
		if got, _ := server.Data("/report"); string(got) != "in time" {
			t.Errorf("the report says %q", got)
		}
	})
}

func fenced(ctx context.Context, client *framework.Client, lease *locks.Lease, report string) error {
	_, err := client.Transaction(ctx, lease.Check(), framework.SetOp("/report", []byte(report), -1))
	return err
}

func TestLeaderStandsAgainAfterEachTerm(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		ctx, resign := context.WithCancel(t.Context())
		terms, hostname := 0, "host7"
		lead := func(context.Context) error {
			if terms++; terms == 2 {
				resign()
			}
			return nil
		}

		selector := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID(hostname))
		err = selector.Run(ctx, lead) // stands again after each term, until ctx ends or the retry policy gives up
		if terms != 2 || !errors.Is(err, context.Canceled) {
			t.Errorf("got %d terms and %v, want 2 and %v", terms, err, context.Canceled)
		}
	})
}

func TestCacheYieldsWhatThereIsAndWhatChanges(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		for _, path := range []string{"/workers", "/workers/7"} {
			if err := server.Create(path, nil); err != nil {
				t.Fatal(err)
			}
		}
		ctx, stop := context.WithCancel(t.Context())
		var seen []string
		see := func(event cache.Event, err error, workers iter.Seq[cache.Node]) {
			for worker := range workers {
				seen = append(seen, fmt.Sprint(event.Kind, event.Node().Path, " has ", worker.Path, ", ", err))
			}
			if event.Kind == cache.Synced {
				stop()
			}
		}
		if err := followWorkers(ctx, client, see); err != nil {
			t.Error(err)
		}
		want := []string{
			"created/workers has /workers/7, <nil>", "created/workers/7 has /workers/7, <nil>", "synced has /workers/7, <nil>",
			"kind 0 has /workers/7, context canceled",
		}
		if !slices.Equal(seen, want) {
			t.Errorf("got %q, want %q", seen, want)
		}
	})
}

func followWorkers(ctx context.Context, client *framework.Client, see func(cache.Event, error, iter.Seq[cache.Node])) error {
	workers := cache.NewCuratorCache(client, "/workers", cache.WithDepth(1))
	err := workers.Start(ctx)                     // blocks until it has everything
	for event, err := range workers.Events(ctx) { // Created for each node, Synced, then every difference
		see(event, err, workers.Children("/workers"))
	}
	return errors.Join(err, workers.Close())
}

var goBlocks = regexp.MustCompile("(?s)```go\n(.*?)```")

// A piece of a page's code is a function of this file, its body, or some statements of it, one behind the other.
func TestPagesShowCodeThatRuns(t *testing.T) {
	found := 0
	for _, page := range pages {
		runs := pieces(t, contents(t, "../integration/pages/readme_test.go"))
		tests, err := filepath.Glob(filepath.Join(filepath.Dir(page), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range tests {
			maps.Copy(runs, pieces(t, contents(t, test)))
		}
		for _, block := range goBlocks.FindAllSubmatch(contents(t, page), -1) {
			if bytes.HasPrefix(block[1], []byte("package main")) {
				continue
			}
			found++
			if !runs[squeeze(block[1])] {
				t.Errorf("%s: this is no function of readme_test.go or of a test beside the page, no body of one, and no statements:\n%s", page, block[1])
			}
		}
	}
	if found < 3 {
		t.Errorf("got %d pieces of code in the pages, want at least 3", found)
	}
}

// theProgram is the program that README.md offers for pasting.
func theProgram(t *testing.T) string {
	t.Helper()
	readme := contents(t, "../README.md")
	before, _, _ := bytes.Cut(readme, []byte("```go\n"))
	if lines := bytes.Count(before, []byte("\n")); lines > 18 {
		t.Errorf("got the program in line %d of README.md, want it in the first screen", lines)
	}
	block := goBlocks.FindSubmatch(readme)
	if block == nil || !bytes.HasPrefix(block[1], []byte("package main")) {
		t.Fatal("README.md does not begin with a program")
	}
	return string(block[1])
}

// compile makes a program as a user's: in a module of its own, with the library as a requirement.
func compile(t *testing.T, source string) (binary string) {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	module := string(contents(t, "../go.mod"))
	_, module, _ = strings.Cut(module, "\n") // all but its name: what we require is what they get
	module = "module example.com/user\n" + module +
		"\nrequire github.com/gocurator/curator v0.0.0\nreplace github.com/gocurator/curator => " + root + "\n"
	for name, text := range map[string]string{
		"main.go": source, "go.mod": module, "go.sum": string(contents(t, "../go.sum")),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	binary = filepath.Join(dir, "program")
	build := programs.GoBuild(t.Context(), "-mod=mod", "-o", binary, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOPROXY=off")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

func contents(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// pieces returns what can be shown of a file.
func pieces(t *testing.T, source []byte) map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	add := func(from, to token.Pos) {
		begin, end := files.Position(from).Offset, files.Position(to).Offset
		line, _, _ := bytes.Cut(source[end:], []byte("\n")) // with the comment behind it
		found[squeeze(source[begin:end])] = true
		found[squeeze(source[begin:end+len(line)])] = true
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			add(n.Pos(), n.End())
		case *ast.BlockStmt:
			for i := range n.List {
				for _, last := range n.List[i:] {
					add(n.List[i].Pos(), last.End())
				}
			}
		}
		return true
	})
	return found
}

// squeeze leaves out what may differ: indentation, and the expected output of an example.
func squeeze(code []byte) string {
	body, _, _ := bytes.Cut(code, []byte("// Output:"))
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return strings.Join(lines, "\n")
}
