package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

const counting = `# wrong-sum: the sum is one too large
breaks: sums
file: sum/sum.go
 func Of(a, b int) int {
-	return a + b
+	return a + b + 1
 }

# negative: negative numbers are not summed
breaks: sums
file: sum/sum.go
-	return a + b
+	if a < 0 { return 0 }; return a + b

# hanging: a sum never ends
breaks: an end
file: sum/sum.go
-	return a + b
+	select {}

# comment: only a comment changes
breaks: nothing
equivalent: the compiler ignores comments
file: sum/sum.go
-	return a + b
+	return a + b // the sum
`

// newModule writes a module with a package, one above it, and the bugs.
func newModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module " + library + "\n\ngo 1.25\n",
		"integration/go.mod": "module " + library + "/integration\n\ngo 1.25\n\nreplace " + library + " => ..\n\n" +
			"require " + library + " v0.0.0\n",
		"retry/r.go":                            "package retry\n",
		"integration/i/i.go":                    "package i\n\nimport _ \"" + library + "/sum\"\n",
		"framework/f.go":                        "package framework\n",
		"sum/sum.go":                            "package sum\n\nfunc Of(a, b int) int {\n\treturn a + b\n}\n",
		"recipes/up.go":                         "package up\n\nimport \"" + library + "/sum\"\n\nfunc Twice(a int) int { return sum.Of(a, a) }\n",
		"recipes/up_test.go":                    "package up\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tt.Run(\"one\", func(t *testing.T) {\n\t\tif Twice(1) != 2 {\n\t\t\tt.Error(\"not 2\")\n\t\t}\n\t})\n}\n",
		"examples/e.go":                         "package e\n",
		"integration/planted/bugs/counting.txt": counting,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRunSaysWhichTestFoundEachBug(t *testing.T) {
	dir := newModule(t)
	t.Chdir(filepath.Join(dir, "integration"))
	t.Setenv("GOFLAGS", "")
	var out bytes.Buffer
	missed, err := run(context.Background(), settings{run: regexp.MustCompile(""), timeout: 5 * time.Second}, &out)
	if err != nil || missed != 2 {
		t.Errorf("got %d bugs that were not found and error %v, want 2\n%s", missed, err, &out)
	}
	got, err := readResults("planted/found")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []result{
		{bug: "counting/wrong-sum", verdict: "found", pkg: "recipes", test: "TestTwice/one"},
		{bug: "counting/negative", verdict: "survived"},
		{bug: "counting/hanging", verdict: "hung", pkg: "recipes", test: "TestTwice"},
		{bug: "counting/comment", verdict: "equivalent"},
	} {
		r := got[want.bug]
		r.seconds = 0
		if r != want {
			t.Errorf("got %+v, want %+v", r, want)
		}
	}
	out.Reset()
	if missed, err := run(context.Background(), settings{run: regexp.MustCompile("")}, &out); missed != 0 || err != nil || out.Len() > 0 {
		t.Errorf("a second run: got %d, %v and output %q, want nothing to do", missed, err, &out)
	}
}

func TestParseBugsRefusesWhatIsNoBug(t *testing.T) {
	for name, text := range map[string]string{
		"no name":     "# what is wrong\nbreaks: a\nfile: f\n-a\n+b\n",
		"no promise":  "# name: wrong\nfile: f\n-a\n+b\n",
		"no change":   "# name: wrong\nbreaks: a\n",
		"two of it":   "# name: wrong\nbreaks: a\nfile: f\n-a\n+b\n# name: wrong\nbreaks: a\nfile: f\n-a\n+b\n",
		"other words": "# name: wrong\nbreaks: a\nbecause: b\n",
	} {
		if bugs, err := parseBugs("area", text); err == nil {
			t.Errorf("%s: got %v, want an error", name, bugs)
		}
	}
}

func TestFilesWantsTheTextInOnePlace(t *testing.T) {
	dir := newModule(t)
	for name, old := range map[string]string{"not there": "\treturn a\n", "twice": "", "no change": "\treturn a + b\n"} {
		b := bug{name: name, changes: []change{{file: "sum/sum.go", old: old, new: "\treturn a + b\n"}}}
		if texts, err := b.files(dir); err == nil {
			t.Errorf("%s: got %v, want an error", name, texts)
		}
	}
}
