package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

var long = strings.Repeat("word ", 30)

func TestCheckFinds(t *testing.T) {
	for name, test := range map[string]struct {
		file, content string
		want          []string
	}{
		"a word in a comment":                {"a.go", "package a\n\n// Whoever reads.\n", []string{"a.go:3: \"Whoever\""}},
		"a word after code":                  {"a.go", "package a\n\nvar a int // is told\n", []string{"a.go:3: \"told\""}},
		"the other words":                    {"a.md", "Nobody tells it anew.\n", []string{"a.md:1: \"tells\"", "a.md:1: \"Nobody\"", "a.md:1: \"anew\""}},
		"names that have them":               {"a.go", "package a\n\n// hasTold, retells, nobodyElse\nvar told, nobody int\n", nil},
		"a fragment after code":              {"a.go", "package a\n\nvar a int // of the last look\n", []string{"a.go:3: begins with \"of\""}},
		"a clause after code":                {"a.go", "package a\n\nvar a int // which is left\n", []string{"a.go:3: begins with \"which\""}},
		"a fragment after a directive":       {"a.go", "package a\n\nvar a int //nolint:b // of dials\n", []string{"a.go:3: begins with \"of\""}},
		"a line that begins with of":         {"a.go", "package a\n\n// The end\n// of a lease.\nvar a int // often; the end of it\n", nil},
		"a page that has a comment":          {"a.md", "    a // of it\n", nil},
		"a word in a string":                 {"a.go", "package a\n\nvar a = `\nin vain`\n", []string{"a.go:4: \"in vain\""}},
		"a name that has it":                 {"a.go", "package a\n\nvar somebody2 int\n", nil},
		"a string of a test":                 {"a_test.go", "package a\n\nvar a = \"somebody\"\n", nil},
		"what an example prints":             {"a_test.go", "package a\n\n// Output:\n// somebody " + long + "\n", nil},
		"a wide comment":                     {"a.go", "package a\n\n// " + long + "\n", []string{"a.go:3: 153 columns"}},
		"a comment that is wide by its tabs": {"a.go", "package a\n\nfunc a() {\n\t// " + long[:115] + "\n}\n", []string{"a.go:4: 122 columns"}},
		"a comment of letters of many bytes": {"a.go", "package a\n\n// " + strings.Repeat("ä ", 58) + "\n", nil},
		"a wide line of code":                {"a.go", "package a\n\nvar a = \"" + long + "\"\n", nil},
		"a wide line of a block":             {"a.go", "package a\n\n//\t" + long + "\n", []string{"a.go:3: 154 columns"}},
		"a directive":                        {"a.go", "package a\n\n//nolint:" + long + "\n", nil},
		"two findings on a line":             {"a.md", "Somebody waits in vain.\n", []string{"a.md:1: \"Somebody\"", "a.md:1: \"in vain\""}},
		"a wide line of a page":              {"a.md", "# A\n\n" + long + "\n", []string{"a.md:3: 150 columns"}},
		"rows, headings, links and pictures": {"a.md", "| " + long + "\n# " + long + "\n[a]: " + long + "\n![a] " + long + "\n", nil},
		"code of a page":                     {"a.md", "```\nwhoever " + long + "\n```\n", nil},
		"after the code of a page":           {"a.md", "```\n```\nwhoever\n", []string{"a.md:3: \"whoever\""}},
		"a script":                           {"a.sh", "# someone\n", []string{"a.sh:1: \"someone\""}},
		"other files":                        {"a.svg", "somebody", nil},
		"what tools have fetched":            {".cache/a.md", "somebody", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			found, err := check(fstest.MapFS{test.file: {Data: []byte(test.content)}}, &out)
			var got []string
			for line := range strings.Lines(out.String()) {
				got = append(got, line)
			}
			if err != nil || found != len(test.want) || len(got) != len(test.want) {
				t.Fatalf("got %d, %v, %q, want %q", found, err, got, test.want)
			}
			for i, want := range test.want {
				if !strings.HasPrefix(got[i], want) {
					t.Errorf("got %q, want %q", got[i], want)
				}
			}
		})
	}
}

func TestCheckFollowsNoLinks(t *testing.T) {
	link := &fstest.MapFile{Data: []byte("elsewhere"), Mode: fs.ModeSymlink}
	var out strings.Builder
	if found, err := check(fstest.MapFS{"a.go": link, ".cache": link}, &out); found != 0 || err != nil {
		t.Errorf("got %d, %v, %s, want nothing", found, err, out.String())
	}
}

func TestCheckOfWhatCannotBeReadFails(t *testing.T) {
	var out strings.Builder
	if _, err := check(fstest.MapFS{"a.go": {Data: []byte("no Go")}}, &out); err == nil {
		t.Error("a file that is no Go: got no error")
	}
	if _, err := check(os.DirFS(t.TempDir()+"/missing"), &out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: got %v, want %v", err, fs.ErrNotExist)
	}
}
