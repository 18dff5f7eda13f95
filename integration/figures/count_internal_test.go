package main

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCodeLinesAreNeitherBlankNorComment(t *testing.T) {
	for name, c := range map[string]struct {
		source             string
		lines, code, words int
	}{
		"an empty file":          {"", 0, 0, 0},
		"blank lines":            {"package p\n\n\t\nvar a int\n", 4, 2, 0},
		"line comments":          {"// Package p is one.\npackage p\n\n// Not code.\n", 4, 1, 6},
		"a comment behind code":  {"package p // name of it\n", 1, 1, 3},
		"a comment over lines":   {"package p\n\n/* one\ntwo */\n\n/* three */ var a int\n", 6, 2, 3},
		"a raw string":           {"package p\n\nconst a = `one\n\n// three`\n", 5, 4, 0},
		"two statements, a line": {"package p\nvar a, b int; var c int\n", 2, 2, 0},
		"directives":             {"//go:build linux\n\npackage p\n\n//nolint:name // why\nvar a int\n", 6, 2, 0},
		"no end of line":         {"package p", 0, 1, 0},
		"a file that is broken":  {"package {\n'x\n", 2, 2, 0},
	} {
		got := scan([]byte(c.source))
		if got.lines != c.lines || len(got.code) != c.code || got.words != c.words {
			t.Errorf("%s: got %d lines, %d of code, %d words, want %d, %d, %d", name, got.lines, len(got.code), got.words, c.lines, c.code, c.words)
		}
	}
}

// sources makes a module of files; a file without content is a package without imports.
func sources(files map[string]string) fstest.MapFS {
	all := fstest.MapFS{"go.mod": {Data: []byte("module example.com/m\n")}}
	for name, content := range files {
		if content == "" {
			content = "package p\n"
		}
		all[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return all
}

func counted(t *testing.T, files fstest.MapFS) *code {
	t.Helper()
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	tree, err := newTree(files, append(names, "deleted.go"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newCode("", tree)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func imports(paths ...string) string {
	return "package p\n\nimport (\n\t\"" + strings.Join(paths, "\"\n\t\"") + "\"\n)\n"
}

func TestPackagesForTestsAreHelpers(t *testing.T) {
	c := counted(t, sources(map[string]string{
		"retry/retry.go":                    "",
		"retry/retry_test.go":               imports("testing", "example.com/m/framework/zktest"),
		"framework/client.go":               imports("example.com/m/retry", "example.com/m/framework/internal/live"),
		"framework/internal/live/live.go":   imports("example.com/m/framework/internal/clock"),
		"framework/internal/clock/clock.go": "",
		"framework/zktest/server.go":        "",
		"framework/zktest/await/await.go":   "",
		"recipes/laws/laws.go":              imports("testing"),
		"recipes/more/more.go":              imports("example.com/m/recipes/laws"),
		"recipes/unused/unused.go":          "",
		"recipes/internal/model/model.go":   imports("example.com/m/recipes/internal/space", "example.com/m/retry"),
		"recipes/internal/space/space.go":   "",
		"recipes/internal/model/a_test.go":  imports("testing"),
		"examples/example.go":               imports("example.com/m/recipes/internal/model"),
		"retry/testdata/d.go":               "",
		"recipes/nested/go.mod":             "module example.com/m/recipes/nested\n",
		"recipes/nested/n.go":               imports("example.com/m/recipes/internal/space"),
	}))
	var got []string
	for _, dir := range c.library(func(p *pkg) bool { return p.helper }) {
		got = append(got, "helper "+dir)
	}
	got = append(got, c.library(func(p *pkg) bool { return !p.helper })...)
	want := []string{
		"helper framework/zktest", "helper framework/zktest/await", "helper recipes/internal/model", "helper recipes/internal/space",
		"helper recipes/laws", "helper recipes/more", "framework", "framework/internal/clock", "framework/internal/live",
		"recipes/unused", "retry",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFiguresOfASmallTree(t *testing.T) {
	files := sources(map[string]string{
		"retry/doc.go":                    "// Package p has four words.\npackage p\n",
		"retry/long.go":                   "package p\n" + strings.Repeat("\n// word\n", 130),
		"retry/retry_test.go":             "package p\n\nvar a int\n",
		"framework/session/session.go":    "package p\n\nvar a int\n",
		"framework/internal/clock/c.go":   "package p\n\nvar a int\n",
		"framework/client.go":             imports("example.com/m/framework/internal/clock"),
		"framework/zktest/zktest.go":      "package p\n\nvar a, b int\nvar c int\n",
		"examples/program/main.go":        "package main\n",
		"examples/holds/holds.go":         "package holds\n\nvar a int\n",
		"integration/api.txt":             "retry: func A()\nretry: type B struct\nretry: field B.C int\nframework/zktest: method D.E()\n",
		"integration/bench/go.mod":        "module example.com/m/integration/bench\n",
		"integration/bench/bench.go":      "package bench\n",
		"integration/bench/figures/a.md":  "not counted",
		"integration/bench/other.md":      "two words",
		"README.md":                       "# Three words\n",
		".github/CONTRIBUTING.md":         "four words\nin lines\n",
		"framework/internal/clock/doc.md": "one",
	})
	files["link.md"] = &fstest.MapFile{Data: []byte("README.md"), Mode: fs.ModeSymlink} // not counted twice
	c := counted(t, files)
	figures, err := c.count()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"code lines of the library": 1 + 1 + 2 + 2 + 4, "code lines of the library's test helpers": 3, "code lines of the library's tests": 2,
		"test files of the library": 1, "code lines of the engine and the session": 2, "files of the library over 260 lines": 1,
		"words in the library's comments": 5 + 130, "packages of the top-level module": 7, "public packages of the top-level module": 5,
		"exported names with methods and fields": 4, "exported names with methods and fields, of test helpers": 1,
		"exported names without methods and fields": 2, "words of README.md": 3, "words of CONTRIBUTING.md": 4, "words of all Markdown": 10,
		"words of all doc.go": 8, "code lines of all Go, benchmarks excepted": 10 + 3 + 2 + 1 + 2, "code lines of zklock and holds": 2,
		"files of the download": 14,
	}
	for _, f := range figures {
		if n, ok := want[f.name]; ok && n != f.value {
			t.Errorf("%s: got %d, want %d", f.name, f.value, n)
		}
		delete(want, f.name)
	}
	if len(want) > 0 {
		t.Errorf("figures that were not counted: %v", want)
	}
	delete(files, "README.md")
	if _, err := counted(t, files).count(); err == nil {
		t.Error("got no error without README.md")
	}
}

// Nested modules, vendored packages and symbolic links are not part of a download.
func TestTheDownloadHasNoNestedModules(t *testing.T) {
	files := sources(map[string]string{
		"LICENSE": "A license.\n", "retry/retry.go": "", "retry/testdata/data": "data\n",
		"examples/go.mod": "module example.com/m/examples\n", "examples/main.go": "", "examples/deep/er/main.go": "",
		"vendor/example.com/x/x.go": "",
	})
	files["link"] = &fstest.MapFile{Data: []byte("LICENSE"), Mode: fs.ModeSymlink}
	size, number, err := counted(t, files).download()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	archive := zip.NewWriter(&want)
	for _, name := range []string{"LICENSE", "go.mod", "retry/retry.go", "retry/testdata/data"} {
		w, err := archive.Create("example.com/m@v0.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(files[name].Data); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if number != 4 || size != want.Len() {
		t.Errorf("got %d files in %d bytes, want 4 in %d", number, size, want.Len())
	}
}
