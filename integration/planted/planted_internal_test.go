package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func everyBug(t *testing.T) []bug {
	t.Helper()
	bugs, err := readBugs("bugs")
	if err != nil {
		t.Fatal(err)
	}
	if len(bugs) < 150 {
		t.Errorf("got %d bugs, want at least 150", len(bugs))
	}
	return bugs
}

func TestEveryBugFitsAndCompiles(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bugs := everyBug(t)
	c := newCompiler(t, root, bugs)
	for _, b := range bugs {
		t.Run(b.name, func(t *testing.T) {
			texts, err := b.files(root)
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range b.changes {
				err := c.check(path.Dir(change.file), texts)
				if errors.Is(err, errNotCompiled) && slices.Contains(b.flags, "-race") { // a file for the detector, of which there is no export data
					name := filepath.Join(root, change.file)
					_, err = c.parse(name, texts[name], false)
				}
				if err != nil {
					t.Errorf("%s does not compile: %v", change.file, err)
				}
			}
		})
	}
}

func TestEveryBugIsFoundByATestThatExists(t *testing.T) {
	results, err := readResults("found")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range everyBug(t) {
		r, ok := results[b.name]
		switch want := "found"; {
		case b.equivalent != "" && (!ok || r.verdict == "equivalent"):
		case !ok || r.verdict != want:
			t.Errorf("%s: got the result %q, want %q: go run -C integration ./planted -only '^%s$'", b.name, r.verdict, want, b.name)
		case !hasTest(t, filepath.Join("../..", r.pkg), r.test):
			t.Errorf("%s: %s has no test %s any more: go run -C integration ./planted -again -only '^%s$'", b.name, r.pkg, r.test, b.name)
		}
	}
}

var testFiles = map[string]string{} // by directory: the text of the tests

func hasTest(t *testing.T, dir, test string) bool {
	t.Helper()
	if _, ok := testFiles[dir]; !ok {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			testFiles[dir] += string(text)
		}
	}
	top, _, _ := strings.Cut(test, "/")
	return strings.Contains(testFiles[dir], "\nfunc "+top+"(")
}

// A compiler checks the types of packages. What they import comes from the compiler's export data.
type compiler struct {
	root    string
	set     *token.FileSet
	imports types.Importer
	files   map[string][]string  // by directory, relative to the root
	parsed  map[string]*ast.File // as they are
}

func newCompiler(t *testing.T, root string, bugs []bug) *compiler {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Export,Dir,GoFiles"}
	dirs := map[string]bool{}
	for _, b := range bugs {
		for _, change := range b.changes {
			if dir := library + "/" + path.Dir(change.file); !dirs[dir] {
				dirs[dir] = true
				args = append(args, dir)
			}
		}
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join(root, "integration")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &errs)
	}
	c := &compiler{root: root, set: token.NewFileSet(), files: map[string][]string{}, parsed: map[string]*ast.File{}}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Export, Dir string
			GoFiles                 []string
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		for _, file := range p.GoFiles {
			if dir, err := filepath.Rel(root, p.Dir); err == nil {
				c.files[filepath.ToSlash(dir)] = append(c.files[filepath.ToSlash(dir)], filepath.Join(p.Dir, file))
			}
		}
	}
	c.imports = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no export data of %s", path)
		}
		return os.Open(exports[path])
	})
	return c
}

var errNotCompiled = errors.New("the changed file is not compiled on this system")

// check compiles the package of a directory, with other texts for some files.
func (c *compiler) check(dir string, texts map[string]string) error {
	var files []*ast.File
	changed := 0
	for _, name := range c.files[dir] {
		text, ok := texts[name]
		if ok {
			changed++
		}
		file, err := c.parse(name, text, !ok)
		if err != nil {
			return err
		}
		files = append(files, file)
	}
	if changed == 0 {
		return errNotCompiled
	}
	config := types.Config{Importer: c.imports}
	_, err := config.Check(dir, c.set, files, nil)
	return err
}

// parse returns a file, with another text if it has changed. One that has not is read once for all bugs.
func (c *compiler) parse(name, text string, asIs bool) (*ast.File, error) {
	if !asIs {
		return parser.ParseFile(c.set, name, text, parser.SkipObjectResolution)
	}
	file, err := c.parsed[name], error(nil)
	if file == nil {
		file, err = parser.ParseFile(c.set, name, nil, parser.SkipObjectResolution)
		c.parsed[name] = file
	}
	return file, err
}
