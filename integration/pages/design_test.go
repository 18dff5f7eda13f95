package pages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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

// The tests of dumps look for these frames in the stacks of goroutines that wait.
func TestRunbookHasTheFramesThatDumpsShow(t *testing.T) {
	root := moduleRoot(t)
	page, found := readFile(t, root, runbook), 0
	for _, name := range []string{"recipes/locks/dump_test.go", "recipes/cache/dump_test.go"} {
		for _, shown := range regexp.MustCompile(`shows\(.*, "([^"]+)"\)`).FindAllStringSubmatch(readFile(t, root, name), -1) {
			found++
			if !strings.Contains(page, "| `"+shown[1]+"` |") {
				t.Errorf("%s: got no row for %s, which %s finds in a dump", runbook, shown[1], name)
			}
		}
	}
	if found < 14 {
		t.Errorf("got %d frames of dumps, want at least 14", found)
	}
}

func TestDesignNamesTestsThatExist(t *testing.T) {
	root := moduleRoot(t)
	exist := testsIn(t, filepath.Join(root, "recipes/locks"))
	maps.Copy(exist, testsIn(t, filepath.Join(root, "integration/pages")))
	names := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(designPages(t, root), -1)
	if len(names) < 6 {
		t.Errorf("got %d tests, want one for most optimisations", len(names))
	}
	for _, name := range names {
		if !exist[name[1]] {
			t.Errorf("%s: there is no test %s in recipes/locks or integration/pages", design, name[1])
		}
	}
}
