package pages_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Where the guarantees and the rules are documented, from the module's root.
const (
	guaranteesDoc = "recipes/locks/doc.go"
	rulesDoc      = "recipes/internal/queue/doc.go"
	readme        = "README.md"
)

// A guard is a test without which a guarantee or a rule could break unnoticed. The test is a function of the package's
// test files, or a law of the package by its name.
type guard struct{ of, dir, test string }

// TestEveryGuaranteeAndRuleHasItsTests compares the documentation with the table of guards, and the table with the
// tests.
func TestEveryGuaranteeAndRuleHasItsTests(t *testing.T) {
	root := moduleRoot(t)
	documented := documentedGuarantees(readFile(t, root, guaranteesDoc))
	promised := promisedGuarantees(readFile(t, root, readme))
	rules := documentedRules(readFile(t, root, rulesDoc))
	if len(documented) < 13 || len(rules) < 7 { // a change of form must not pass for a document without promises
		t.Errorf("got %d guarantees in %s and %d rules in %s, want at least 13 and 7", len(documented), guaranteesDoc, len(rules), rulesDoc)
	}
	if !slices.Equal(documented, promised) {
		t.Errorf("%s has %v, %s has %v: want the same guarantees", guaranteesDoc, documented, readme, promised)
	}
	tests := make(map[string]map[string]bool)
	for _, g := range guards {
		if tests[g.dir] == nil {
			tests[g.dir] = testsIn(t, filepath.Join(root, g.dir))
		}
	}
	for _, problem := range unguarded(slices.Concat(documented, rules), guards, tests) {
		t.Error(problem)
	}
	for name := range testsIn(t, filepath.Join(root, lawsDir)) {
		of, _, _ := strings.Cut(name, " ")
		if regexp.MustCompile(`^G\d+$`).MatchString(of) && !slices.Contains(documented, of) {
			t.Errorf("law %q of %s: %s has no %s", name, lawsDir, guaranteesDoc, of)
		}
	}
}

// unguarded says what is wrong with a table of guards: promises without a guard, guards of nothing, guards that do not
// exist.
func unguarded(promises []string, table []guard, tests map[string]map[string]bool) []string {
	var problems []string
	guarded := make(map[string]bool)
	for i, g := range table {
		switch {
		case !slices.Contains(promises, g.of):
			problems = append(problems, fmt.Sprintf("%s in %s guards %s, which is not documented", g.test, g.dir, g.of))
		case !tests[g.dir][g.test]:
			problems = append(problems, fmt.Sprintf("%s is to be guarded by %s in %s: there is no such test", g.of, g.test, g.dir))
		default:
			guarded[g.of] = true
		}
		if slices.Contains(table[:i], g) {
			problems = append(problems, fmt.Sprintf("%s in %s is listed twice for %s", g.test, g.dir, g.of))
		}
	}
	for _, promise := range promises {
		if !guarded[promise] {
			problems = append(problems, promise+" has no test")
		}
	}
	return problems
}

func TestUnguardedPromisesAreNamed(t *testing.T) {
	tests := map[string]map[string]bool{"a": {"TestOne": true}, "b": {"G2 law/first": true}}
	good := []guard{{"G1", "a", "TestOne"}, {"G2", "b", "G2 law/first"}, {"rule 1", "a", "TestOne"}}
	promises := []string{"G1", "G2", "rule 1"}
	for name, c := range map[string]struct {
		promises []string
		table    []guard
		want     string
	}{
		"all is well":               {promises, good, ""},
		"a promise without a guard": {append(promises[:3:3], "G3"), good, "G3 has no test"},
		"a rule without a guard":    {promises, good[:2], "rule 1 has no test"},
		"a test that is gone":       {promises, append(good[:3:3], guard{"G1", "a", "TestTwo"}), "G1 is to be guarded by TestTwo in a: there is no such test"},
		"a test of another package": {promises, append(good[:3:3], guard{"G1", "b", "TestOne"}), "G1 is to be guarded by TestOne in b: there is no such test"},
		"an unknown promise":        {promises[1:], good[1:2:2], "rule 1 has no test"},
		"a guard of nothing":        {promises, append(good[:3:3], guard{"G9", "a", "TestOne"}), "TestOne in a guards G9, which is not documented"},
		"a line twice":              {promises, append(good[:3:3], good[0]), "TestOne in a is listed twice for G1"},
	} {
		if got := strings.Join(unguarded(c.promises, c.table, tests), "; "); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// documentedGuarantees returns the guarantees of a package comment: lines that begin with the number.
func documentedGuarantees(doc string) []string {
	return numbered(doc, `(?m)^//\t(G\d+) +\S`, "%s")
}

// promisedGuarantees returns those of the README's table.
func promisedGuarantees(text string) []string {
	return numbered(text, `(?m)^\| (G\d+) \| \*\*`, "%s")
}

// documentedRules returns the rules of a package comment: its numbered list.
func documentedRules(doc string) []string {
	return numbered(doc, `(?m)^//  (\d+)\. \S`, "rule %s")
}

func numbered(text, pattern, format string) []string {
	var found []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		found = append(found, fmt.Sprintf(format, match[1]))
	}
	return found
}

// testsIn returns the names of a package's test functions and laws.
func testsIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("no package in %s: %v", dir, err)
	}
	found := make(map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			continue
		}
		if strings.HasSuffix(name, "_test.go") {
			maps.Insert(found, maps.All(testFunctions(file)))
		} else {
			maps.Insert(found, maps.All(laws(file)))
		}
	}
	return found
}

func testFunctions(file *ast.File) map[string]bool {
	found := make(map[string]bool)
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if ok && f.Recv == nil && regexp.MustCompile(`^(Test|Fuzz)[^a-z]`).MatchString(f.Name.Name) {
			found[f.Name.Name] = true
		}
	}
	return found
}

// laws returns the names in literals such as {name: "G1 exclusion/two clients", run: f}, without those that nothing
// runs.
func laws(file *ast.File) map[string]bool {
	found := make(map[string]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		literal, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		name, runs := "", false
		for _, element := range literal.Elts {
			pair, ok := element.(*ast.KeyValueExpr)
			if !ok {
				continue
			}
			key, ok := pair.Key.(*ast.Ident)
			if !ok {
				continue
			}
			value, isText := pair.Value.(*ast.BasicLit)
			switch {
			case key.Name == "name" && isText:
				name, _ = strconv.Unquote(value.Value)
			case key.Name == "run":
				runs = true
			}
		}
		if runs {
			found[name] = true
		}
		return true
	})
	return found
}

// moduleRoot is the directory of the repository.
func moduleRoot(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func readFile(t *testing.T, root, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
