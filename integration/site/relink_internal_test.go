package main

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestRelinkLeadsWhereTheSiteHasThings(t *testing.T) {
	s := site{dir: t.TempDir(), ref: "v0.1.0"}
	for _, name := range []string{
		".github/CHANGELOG.md", "README.md", "examples/faq/README.md", "examples/faq/faq.go", "examples/run.svg", "recipes/locks/doc.go",
		"recipes/locks/lockstest/doc.go", "recipes/internal/queue/doc.go",
	} {
		if err := write(filepath.Join(s.dir, name), nil); err != nil {
			t.Fatal(err)
		}
	}
	texts, err := s.readPages()
	if err != nil {
		t.Fatal(err)
	}
	const code = "https://github.com/gocurator/curator/"
	for _, tt := range []struct{ page, text, want string }{
		{"README.md", "[a](examples/faq/README.md#b)", "[a](examples/faq/README.md#b)"},
		{"README.md", "[a](examples/faq)", "[a](examples/faq/README.md)"},
		{"README.md", "[a\nb](.github/CHANGELOG.md)", "[a\nb](CHANGELOG.md)"},
		{".github/CHANGELOG.md", "[a](../README.md)", "[a](README.md)"},
		{".github/CHANGELOG.md", "[a](#b) [c](https://d.example/e)", "[a](#b) [c](https://d.example/e)"},
		{"examples/faq/README.md", "[a](faq.go#L3)", "[a](" + code + "blob/v0.1.0/examples/faq/faq.go#L3)"},
		{"examples/faq/README.md", "[a](..)", "[a](" + code + "tree/v0.1.0/examples)"},
		{"examples/faq/README.md", "![a](../run.svg)", "![a](../run.svg)"},
		{"README.md", "[a](recipes/locks/doc.go)", "[a](packages/recipes/locks.md)"},
		{"README.md", "[a](recipes/locks/lockstest/doc.go)", "[a](" + code + "blob/v0.1.0/recipes/locks/lockstest/doc.go)"},
		{"README.md", "[a](recipes/internal/queue/doc.go)", "[a](" + code + "blob/v0.1.0/recipes/internal/queue/doc.go)"},
		{"README.md", "[![CI](https://a.example/b.svg)](examples)", "[CI](" + code + "tree/v0.1.0/examples)"},
		{"README.md", "`[a](b)` ``[c](d)``", "`[a](b)` ``[c](d)``"},
		{"README.md", "```\n[a](b) {c}\n```\n", "```\n[a](b) {c}\n```\n"},
		{"README.md", "`a \\| b` {c}", "`a | b` \\{c}"},
		{"README.md", "# A b\n## A b\n", "# A b {#a-b}\n## A b {#a-b-1}\n"},
	} {
		r := relinker{site: s, texts: texts, page: tt.page}
		if got := r.relink(tt.text); got != tt.want || r.problems != nil {
			t.Errorf("%s: %s\n got %q, %v,\nwant %q", tt.page, tt.text, got, r.problems, tt.want)
		}
	}
	r := relinker{site: s, texts: texts, page: "README.md"}
	r.relink("![a](examples/run.svg) [b](gone.go) [c](../above) ![d](gone.svg)")
	if want := []string{"examples/run.svg"}; !slices.Equal(r.pictures, want) || len(r.problems) != 3 {
		t.Errorf("got the pictures %q and %v, want %q and three problems", r.pictures, r.problems, want)
	}
}
