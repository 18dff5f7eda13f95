//go:build unix

package pages_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

var hasMain = regexp.MustCompile(`(?m)^func main\(\)`)

// mains returns the pieces of code in a comment that have a main. Each must be a whole program.
func mains(text string) (found []string) {
	for _, block := range new(comment.Parser).Parse(text).Content {
		if code, ok := block.(*comment.Code); ok && hasMain.MatchString(code.Text) {
			found = append(found, code.Text)
		}
	}
	return found
}

// programsInComments are the programs in all comments of all Go files, by the place of the comment.
func programsInComments(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && (entry.Name() == ".cache" || entry.Name() == ".git") {
			return filepath.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") {
			return err
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, group := range file.Comments {
			addMains(found, files, group)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func addMains(found map[string]string, files *token.FileSet, group *ast.CommentGroup) {
	for _, program := range mains(group.Text()) {
		found[files.Position(group.Pos()).String()] = program
	}
}

func TestProgramsInCommentsAreFound(t *testing.T) {
	const text = "Package a does things.\n\n\tfunc f() {}\n\nA program:\n\n\tpackage main\n\n\tfunc main() {\n\t\tprintln()\n\t}\n\nMore.\n"
	const want = "package main\n\nfunc main() {\n\tprintln()\n}\n"
	if got := mains(text); len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want one: %q", got, want)
	}
}

// A program in a comment is pasted as it is. It runs on a server in memory, and ends in order at SIGTERM if it does not
// end before.
func TestProgramsInCommentsRun(t *testing.T) {
	for place, program := range programsInComments(t) {
		runProgram(t, place, program)
	}
}

var connectString = regexp.MustCompile(`"zk1:2181[^"]*"`)

func runProgram(t *testing.T, place, program string) {
	t.Helper()
	server := zktest.NewServer()
	defer server.Close()
	p := start(t, compile(t, connectString.ReplaceAllString(program, `"`+server.Addr()+`"`)))
	if connectString.MatchString(program) {
		await.Until(t, time.Minute, place+" to connect", func() bool { return len(server.Sessions()) > 0 })
		p.Signal(syscall.SIGTERM)
	}
	if got := p.Wait(); got != 0 {
		t.Errorf("%s: got status %d, want 0", place, got)
	}
}

// The sample is README.md's program, so that what runs the others is itself run.
func TestProgramOfREADMERunsAsOneInACommentWould(t *testing.T) {
	text := "A program:\n\n\t" + strings.ReplaceAll(theProgram(t), "\n", "\n\t")
	got := mains(text)
	if len(got) != 1 {
		t.Fatalf("got %d programs, want one", len(got))
	}
	runProgram(t, "README.md", got[0])
}
