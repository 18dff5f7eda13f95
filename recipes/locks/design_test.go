package locks_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	design  = "recipes/locks/DESIGN.md"    // with RETAINED.md, see designPages
	runbook = "examples/runbook/README.md" // has the table of stack frames
)

// designPages are DESIGN.md and the page of retained locks beside it, as one text.
func designPages(t *testing.T, root string) string {
	t.Helper()
	return readFile(t, root, design) + readFile(t, root, filepath.Join(filepath.Dir(design), "RETAINED.md"))
}

// library are the directories whose code DESIGN.md describes.
var library = []string{"framework", "recipes"}

// walkLibrary calls f for each parsed file of the library, without tests and what is for tests.
func walkLibrary(t *testing.T, root string, f func(pkg string, file *ast.File)) {
	t.Helper()
	for _, dir := range library {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if name := entry.Name(); entry.IsDir() && (strings.HasSuffix(name, "test") || name == "model") {
				return filepath.SkipDir
			}
			if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err == nil {
				f(file.Name.Name, file)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestDesignLinksToFilesThatExist(t *testing.T) {
	root := moduleRoot(t)
	links := regexp.MustCompile(`\]\(([^)#]+)\)`).FindAllStringSubmatch(designPages(t, root), -1)
	if len(links) < 30 {
		t.Errorf("got %d links, want those of twelve steps and of each optimisation", len(links))
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(root, filepath.Dir(design), link[1])); err != nil {
			t.Error(err)
		}
	}
}

// A place is cited as "words" in [file](path): the file has to have these words.
func TestDesignCitesWordsThatFilesHave(t *testing.T) {
	root := moduleRoot(t)
	cited := regexp.MustCompile(`"([^"]+)" in \[[^]]*\]\(([^)#]+)\)`).FindAllStringSubmatch(designPages(t, root), -1)
	if len(cited) < 3 {
		t.Errorf("got %d citations, want at least 3", len(cited))
	}
	for _, c := range cited {
		if file := filepath.Join(filepath.Dir(design), c[2]); !strings.Contains(readFile(t, root, file), c[1]) {
			t.Errorf("%s: got no %q, which %s cites", file, c[1], design)
		}
	}
}

// methods returns the library's methods twice: as stack frames have them, and as Type.method.
func methods(t *testing.T, root string) map[string]bool {
	t.Helper()
	exist := map[string]bool{}
	walkLibrary(t, root, func(pkg string, file *ast.File) {
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			switch receiver := f.Recv.List[0].Type.(type) {
			case *ast.StarExpr:
				name, arguments := receiver.X, ""
				if generic, ok := name.(*ast.IndexExpr); ok {
					name, arguments = generic.X, "[...]"
				}
				if name, ok := name.(*ast.Ident); ok {
					exist[pkg+".(*"+name.Name+arguments+")."+f.Name.Name] = true
					exist[name.Name+"."+f.Name.Name] = true
				}
			case *ast.Ident:
				exist[pkg+"."+receiver.Name+"."+f.Name.Name] = true
				exist[receiver.Name+"."+f.Name.Name] = true
			}
		}
	})
	return exist
}

func TestDesignNamesMethodsThatExist(t *testing.T) {
	root := moduleRoot(t)
	exist := methods(t, root)
	names := regexp.MustCompile("`(\\w+\\.\\w+)`").FindAllStringSubmatch(designPages(t, root), -1)
	found := 0
	for _, name := range names {
		if strings.HasSuffix(name[1], ".mu") { // see TestDesignHasEveryMutex
			continue
		}
		found++
		if !exist[name[1]] {
			t.Errorf("%s: got %s, want a method that exists", design, name[1])
		}
	}
	if found < 6 {
		t.Errorf("%s: got %d methods, want at least those that run on goroutines of their own", design, found)
	}
}

func TestRunbookNamesStackFramesThatExist(t *testing.T) {
	root := moduleRoot(t)
	exist := methods(t, root)
	frames := regexp.MustCompile("(?m)^\\| `(\\w+\\.(?:\\(\\*\\w+(?:\\[\\.\\.\\.\\])?\\)|\\w+)\\.\\w+)`(?: \\||, )").FindAllStringSubmatch(readFile(t, root, runbook), -1)
	if len(frames) < 12 {
		t.Errorf("got %d frames, want at least 12", len(frames))
	}
	for _, frame := range frames {
		if !exist[frame[1]] {
			t.Errorf("%s: there is no %s", runbook, frame[1])
		}
	}
}

func TestDesignNamesTestsThatExist(t *testing.T) {
	root := moduleRoot(t)
	exist := testsIn(t, filepath.Join(root, "recipes/locks"))
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(designPages(t, root), -1)
	if len(names) < 6 {
		t.Errorf("got %d tests, want one for most optimisations", len(names))
	}
	for _, name := range names {
		if !exist[name[1]] {
			t.Errorf("%s: there is no test %s in recipes/locks", design, name[1])
		}
	}
}

// topFrames are the topmost frames of the library, of all goroutines, when all of the bubble wait. The one way to wait,
// which all recipes share, does not say for what.
func topFrames() (frames []string) {
	synctest.Wait()
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	ours := regexp.MustCompile(`(?m)^github\.com/gocurator/curator/(?:framework|recipes)/(?:[\w/]+/)?(\w+\.\S+)\(`)
	for stack := range strings.SplitSeq(string(text), "\n\n") {
		for _, match := range ours.FindAllStringSubmatch(strings.ReplaceAll(stack, "curator/framework.", "curator/framework/framework."), -1) {
			if match[1] != "session.Waiter.Wait" && !strings.HasPrefix(match[1], "zktest.") && !strings.Contains(match[1], "_test.") {
				frames = append(frames, match[1])
				break
			}
		}
	}
	return frames
}

// The table says what a real dump shows.
func TestDumpOfWhatWaitsHasTheFramesOfTheRunbook(t *testing.T) {
	text := readFile(t, moduleRoot(t), runbook)
	shows := func(t *testing.T, when, frame string) {
		t.Helper()
		if got := topFrames(); !slices.Contains(got, frame) {
			t.Errorf("%s: got topmost frames %q, want %s among them", when, got, frame)
		}
		if !strings.Contains(text, "| `"+frame+"` |") {
			t.Errorf("%s: %s has no frame %s", when, runbook, frame)
		}
	}
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		client := newPeer(t, server).Client
		mutex, semaphore := locks.NewInterProcessMutex(client, "/lock"), locks.NewInterProcessSemaphoreV2(client, "/leases", 1)
		retained := locks.NewInterProcessMutex(client, "/retained").Retained()
		lease := acquire(t, mutex)
		acquire(t, semaphore)
		acquire(t, retained)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		waiting := []<-chan result{begin(ctx, t, mutex), begin(ctx, t, semaphore), begin(ctx, t, retained)}
		shows(t, "a waiter", "queue.(*Contender).outlast")
		shows(t, "a waiter for a semaphore's lease", "locks.(*batch).await")
		shows(t, "a waiter for a retained lock", "locks.(*retainedWaiter).awaitBaton")
		shows(t, "a client", "live.(*Runner).runClock")
		shows(t, "a connection", "transport.(*link).writeLoop")
		tracing := make(chan struct{})
		slow := locks.WithTrace(locks.Trace{AcquireStart: func(ctx context.Context, _ locks.AcquireStart) context.Context {
			<-tracing
			return ctx
		}})
		waiting = append(waiting, begin(ctx, t, locks.NewInterProcessMutex(client, "/traced", slow)))
		shows(t, "an acquire whose trace blocks", "locks.(*reporter).acquireStart")
		close(tracing)
		cancel()
		for _, w := range waiting {
			_ = soon(t, w)
		}
		server.Freeze()
		entering := begin(t.Context(), t, locks.NewInterProcessMutex(client, "/free"))
		shows(t, "an acquire at a frozen server", "live.(*sender).call")
		go func() { _, _, _ = client.Get(t.Context(), "/lock") }()
		shows(t, "an operation at a frozen server", "live.(*sender).call")
		others := func(frame string) bool { return frame != "live.(*sender).call" }
		if got := len(slices.DeleteFunc(topFrames(), others)); got != 2 {
			t.Errorf("got %d goroutines that wait for an answer, want the acquire's and the operation's", got)
		}
		go func() { _ = lease.Release() }()
		shows(t, "a release at a frozen server", "queue.(*Grant).AwaitRemoval")
		server.RefuseConnections(true)
		server.CutAll()
		server.Unfreeze()
		go func() { _, _, _ = client.Get(t.Context(), "/lock") }()
		time.Sleep(time.Second)
		shows(t, "an operation without a connection", "framework.(*core).attachedSession")
		shows(t, "an acquire that has lost its connection", "live.(*base).waitAttached")
		shows(t, "a client without a server", "transport.(*Transport).sleep")
		server.RefuseConnections(false)
		_ = soon(t, entering)
		time.Sleep(time.Minute)
	})
}
