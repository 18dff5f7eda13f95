package pages_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are what is written for users to read. The Go names in them have to exist, and so do the tests that they name.
var pages = []string{
	"../README.md", "README.md", "adapters/README.md", "adapters/schedulers/README.md", "comparison/README.md", "faq/README.md", "kubernetes/README.md", "porting/README.md",
	"runbook/README.md", "security/README.md", "sizing/README.md", "../recipes/COSTS.md", "testing/README.md", "zklock/README.md", "zklock/QUICKSTART.md", "../integration/bench/figures/README.md",
	"../.github/RELEASING.md", "../.github/SECURITY.md", "observability/README.md", "observability/CONVENTIONS.md",
}

func TestPagesNameWhatExists(t *testing.T) {
	packages, methods := map[string]map[string]bool{}, map[string]bool{}
	for name, dir := range map[string]string{
		"cache":     "../recipes/cache",
		"discovery": "../recipes/discovery",
		"nodes":     "../recipes/nodes",
		"counters":  "../recipes/counters",
		"framework": "../framework",
		"leader":    "../recipes/leader",
		"locks":     "../recipes/locks",
		"retry":     "../retry",
		"sasl":      "../framework/sasl",
		"saslmd5":   "../framework/saslmd5",
		"session":   "../framework/session",
		"shared":    "../recipes/shared",
		"zktest":    "../framework/zktest",
	} {
		packages[name] = exported(t, dir, methods)
	}
	foreign := []string{
		"asynq", "chain", "concurrency", "context", "cron", "errors", "fmt", "http", "j", "kratos", "log", "os", "pprof", "rand", "roots",
		"schedule", "scheduler", "server", "signal", "slog", "strconv", "sync", "synctest", "syscall",
		"t", "testing", "time", "tls", "workers", "x509", "zk",
	}
	for _, file := range pages {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`\b([a-z]\w*)\.([A-Z]\w*)`).FindAllSubmatch(page, -1) {
			names, known := packages[string(found[1])]
			if !known {
				names = methods
			}
			if !names[string(found[2])] && !slices.Contains(foreign, string(found[1])) {
				t.Errorf("%s: there is no %s", file, found[0])
			}
		}
	}
}

// Claims of the pages name their tests, in code: a function, or a law of lockstest.
var claimed = regexp.MustCompile("`(Test\\w+|G\\d+ [^`]+/[^`]+)`")

func TestClaimsOfPagesNameTestsThatExist(t *testing.T) {
	exist, laws := map[string]bool{}, ""
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".cache":
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllSubmatch(contents(t, path), -1) {
				exist[string(found[1])] = true
			}
		case strings.HasSuffix(path, ".go") && filepath.Base(filepath.Dir(path)) == "lockstest":
			laws += string(contents(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	claims := 0
	for _, page := range pages {
		for _, found := range claimed.FindAllSubmatch(contents(t, page), -1) {
			claims++
			name := string(found[1])
			if name == "TestingServer" || name == "TestingCluster" { // classes of Java
				continue
			}
			if !exist[name] && !strings.Contains(laws, `"`+name+`"`) {
				t.Errorf("%s: there is no test %s", page, name)
			}
		}
	}
	if claims < 30 {
		t.Errorf("got %d claims with a test, want at least 30", claims)
	}
	for line := range strings.Lines(string(contents(t, "comparison/README.md"))) {
		if cells := strings.Count(line, "|"); cells == 10 && !strings.Contains(line, "test |") && !strings.HasPrefix(line, "|---") &&
			!claimed.MatchString(line) {
			t.Errorf("comparison/README.md: a claim without a test: %s", line)
		}
	}
}

func TestREADMEIsShort(t *testing.T) {
	if lines := strings.Count(string(contents(t, "../README.md")), "\n"); lines > 160 {
		t.Errorf("got %d lines of README.md, want at most 160", lines)
	}
}

// exported returns the names that a package exports, and adds those of its methods and of fields to methods.
func exported(t *testing.T, dir string, methods map[string]bool) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no files in ", dir, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					names[d.Name.Name] = true
				} else {
					methods[d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						names[s.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range s.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	return names
}
