package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

// The code of README.md stands in this file, where it is compiled and run. TestREADMEShowsCodeThatRuns compares.

func Example() {
	ctx := context.Background()
	server := zktest.NewServer() // in memory, to try it; yours are "zk1:2181,zk2:2181,zk3:2181"
	defer server.Close()
	client, err := framework.NewClient(server.Addr())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	mutex := locks.NewInterProcessMutex(client, "/locks/nightly")
	lease, err := mutex.Acquire(ctx) // waits for its turn; ctx bounds this wait, nothing else
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release()
	ctx = lease.Context(ctx) // for the work: ends when the lock is lost, before anybody else can have it
	fmt.Println("holding", lease.Path(), ctx.Err())
	// Output: holding /locks/nightly <nil>
}

func Example_short() {
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

// A piece of the README's code is a function of this file, its body, or one statement of it.
func TestREADMEShowsCodeThatRuns(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	runs := pieces(t, source)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllSubmatch(readme, -1)
	if len(blocks) == 0 {
		t.Error("the README shows no code")
	}
	for _, block := range blocks {
		if !runs[squeeze(block[1])] {
			t.Errorf("this is no function of readme_test.go, no body of one, and no statement:\n%s", block[1])
		}
	}
	if before, _, _ := bytes.Cut(readme, []byte("```go\n")); bytes.Count(before, []byte("\n")) >= 10 {
		t.Error("the README's code begins too late")
	}
}

// pieces returns what can be shown of a file.
func pieces(t *testing.T, source []byte) map[string]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	text := func(from, to token.Pos) string {
		return squeeze(source[files.Position(from).Offset:files.Position(to).Offset])
	}
	found := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			found[text(n.Pos(), n.End())] = true
			found[text(n.Body.Lbrace+1, n.Body.Rbrace)] = true
		case ast.Stmt:
			found[text(n.Pos(), n.End())] = true
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
