package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// python has MkDocs, once for all tests.
var python = sync.OnceValues(func() (string, error) { return mkdocs(context.Background(), "../..") })

// withMkDocs returns a Python that has MkDocs, or skips the test where tests have only Go.
func withMkDocs(t *testing.T) string {
	t.Helper()
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("needs MkDocs: CURATOR_INTEGRATION=required fetches it")
	}
	found, err := python()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// small is a repository of a few files, whose nav is a list of its pages. mkdocs.yml is that of the real one otherwise.
func small(t *testing.T, nav []string, files map[string]string) site {
	t.Helper()
	s := site{dir: t.TempDir(), ref: "main", python: withMkDocs(t)}
	if err := os.CopyFS(filepath.Join(s.dir, "integration/site/assets"), os.DirFS("assets")); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile("mkdocs.yml")
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(config), "\nnav:\n")
	if !found {
		t.Fatal("mkdocs.yml has no nav")
	}
	before += "\nnav:\n"
	for _, page := range nav {
		before += "  - " + page + "\n"
	}
	for name, text := range files {
		if err := write(filepath.Join(s.dir, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(filepath.Join(s.dir, "integration/site/mkdocs.yml"), []byte(before)); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBuildNamesWhatIsWrong(t *testing.T) {
	const home = "# Home\n\nWords.\n"
	for name, tt := range map[string]struct {
		nav   []string
		files map[string]string
		want  []string // in the error; none: the site is built
	}{
		"nothing": {[]string{"README.md", "a/b.md"}, map[string]string{
			"README.md": home + "\n[b](a/b.md#two-words), [code](a/x.go), [a](a), ![p](p.svg)\n",
			"a/b.md":    "# B\n\n## Two words\n\n[home](../README.md)\n", "a/x.go": "package a\n", "p.svg": "<svg/>",
		}, nil},
		"a page in no section": {
			[]string{"README.md"},
			map[string]string{"README.md": home, "examples/new/README.md": home},
			[]string{"not included in the \"nav\"", "examples/new/README.md"},
		},
		"a section's page that is gone": {[]string{"README.md", "gone.md"}, map[string]string{"README.md": home}, []string{"'gone.md'"}},
		"a link to no file": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "[x](x.go)\n"},
			[]string{"README.md: there is no x.go"},
		},
		"a link out of the repository": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "[x](../..)\n"},
			[]string{"README.md: there is no ../.."},
		},
		"a picture that is not there": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "![x](x.svg)\n"},
			[]string{"README.md: there is no x.svg"},
		},
		"a link to no heading": {
			[]string{"README.md", "b.md"},
			map[string]string{"README.md": home + "[b](b.md#c)\n", "b.md": "# B\n"},
			[]string{"'README.md'", "'b.md#c'"},
		},
		"a link to no heading of the page": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "[b](#c)\n"},
			[]string{"'README.md'", "'#c'"},
		},
		"an image of another server": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "<img src=\"https://example.com/x.png\">\n"},
			[]string{"index.html: https://example.com/x.png: a browser fetches it from another server"},
		},
		"a list that MkDocs takes for words": {
			[]string{"README.md"},
			map[string]string{"README.md": home + "Words:\n- an item\n"},
			[]string{"README.md: got ", "on GitHub"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			to := filepath.Join(t.TempDir(), "site")
			err := small(t, tt.nav, tt.files).build(t.Context(), to)
			if (err == nil) != (tt.want == nil) {
				t.Fatalf("got %v, want an error: %v", err, tt.want != nil)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %s in it", err, want)
				}
			}
			if _, err := os.Stat(filepath.Join(to, "index.html")); (err == nil) != (tt.want == nil) {
				t.Errorf("got %v for the site's first page, want the site only if nothing is wrong", err)
			}
		})
	}
}

func TestBuildLeavesAloneADirectoryThatIsNoSite(t *testing.T) {
	s := small(t, []string{"README.md"}, map[string]string{"README.md": "# Home\n"})
	letter := filepath.Join(t.TempDir(), "letter")
	if err := write(letter, []byte("dear")); err != nil {
		t.Fatal(err)
	}
	if err := s.build(t.Context(), filepath.Dir(letter)); err == nil || !strings.Contains(err.Error(), "is no site") {
		t.Errorf("got %v, want a refusal", err)
	}
	if _, err := os.Stat(letter); err != nil {
		t.Error(err)
	}
	to := filepath.Join(t.TempDir(), "new")
	for range 2 { // the second takes the place of the first
		if err := s.build(t.Context(), to); err != nil {
			t.Error(err)
		}
	}
}

// whole is the site of this repository, which all tests of it share.
var whole = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		return "", err
	}
	program, err := python()
	if err != nil {
		return "", err
	}
	to := filepath.Join(dir, "site")
	return to, site{dir: "../..", ref: "v0.1.0", python: program}.build(context.Background(), to)
})

func TestMain(m *testing.M) {
	status := m.Run()
	if os.Getenv("CURATOR_INTEGRATION") != "" {
		if dir, err := whole(); err == nil {
			_ = os.RemoveAll(filepath.Dir(dir))
		}
	}
	os.Exit(status)
}

func wholeSite(t *testing.T) string {
	t.Helper()
	withMkDocs(t)
	dir, err := whole()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// What the search looks through has each page, and words of the pages.
func TestSearchIndexHasEveryPage(t *testing.T) {
	dir := wholeSite(t)
	text, err := os.ReadFile(filepath.Join(dir, "search/search_index.json"))
	if err != nil {
		t.Fatal(err)
	}
	var index struct {
		Docs []struct{ Location, Title, Text string }
	}
	if err := json.Unmarshal(text, &index); err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, d := range index.Docs {
		page, _, _ := strings.Cut(d.Location, "#")
		pages[page] += d.Title + " " + d.Text
	}
	texts, err := site{dir: "../.."}.readPages()
	if err != nil {
		t.Fatal(err)
	}
	for name := range texts {
		if pages[builtName(place(name))] == "" {
			t.Errorf("the search knows no words of %s", name)
		}
	}
	for page, want := range map[string]string{
		"packages/recipes/locks.html": "FencingToken is greater", "examples/runbook/index.html": "Kill the process", "index.html": "Exclusion.",
	} {
		if !strings.Contains(pages[page], want) {
			t.Errorf("the search knows no %q of %s", want, page)
		}
	}
	home, err := os.ReadFile(filepath.Join(dir, "index.html"))
	for _, want := range []string{
		`href="https://github.com/gocurator/curator/blob/v0.1.0/examples/leader/serve.go"`, `href="packages/recipes/cache.html"`,
		`src="examples/contention/contention.svg"`,
	} {
		if err != nil || !bytes.Contains(home, []byte(want)) {
			t.Errorf("got a first page without %s: %v", want, err)
		}
	}
}

func TestPlaygroundIsShownOnItsPage(t *testing.T) {
	s := small(t, []string{"README.md", playgroundPage}, map[string]string{
		"README.md": "# Home\n\n[it](" + playgroundPage + ")\n", playgroundPage: "# Playground\n\nWords.\n",
	})
	s.playground = func(_ context.Context, to string) error {
		return write(filepath.Join(to, "index.html"), []byte("<!DOCTYPE html><title>p</title>"))
	}
	to := filepath.Join(t.TempDir(), "site")
	if err := s.build(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(to, "examples", "playground", "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `src="../../playground/index.html"`; !strings.Contains(string(page), want) {
		t.Errorf("the page lacks %s:\n%s", want, page)
	}
	if _, err := os.Stat(filepath.Join(to, "playground", "index.html")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(s.dir, playgroundPage)); err != nil {
		t.Fatal(err)
	}
	if err := s.build(t.Context(), to); err == nil || !strings.Contains(err.Error(), playgroundPage) {
		t.Errorf("got %v without the page, want an error that names it", err)
	}
}
