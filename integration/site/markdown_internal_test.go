package main

import (
	"slices"
	"testing"
)

func TestAnchorsAreGitHubs(t *testing.T) {
	a := anchors{}
	for _, tt := range []struct{ title, want string }{
		{"# Which lock do I want?", "which-lock-do-i-want"},
		{"### Changed", "changed"},
		{"### Changed", "changed-1"},
		{"### Changed", "changed-2"},
		{"## `zklock who`: a *lock's* past", "zklock-who-a-locks-past"},
		{"## 0.1.0 (2026-11-27)", "010-2026-11-27"},
		{"## [A link](b.md#c) & snake_case — dash", "a-link--snake_case--dash"},
		{"# Größe", "größe"},
	} {
		if got := a.next(tt.title); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.title, got, tt.want)
		}
	}
}

func TestSplitTellsCodeAndHeadingsFromWords(t *testing.T) {
	const page = "a\nb\n# c\n## d\n```go\n# no heading\n~~~\n```\ne\n  ````\n```\n  ````\nf\n"
	want := []part{
		{text: "a\nb\n"},
		{text: "# c\n", heading: true},
		{text: "## d\n", heading: true},
		{text: "```go\n# no heading\n~~~\n```\n", code: true},
		{text: "e\n"},
		{text: "  ````\n```\n  ````\n", code: true},
		{text: "f\n"},
	}
	if got := split(page); !slices.Equal(got, want) {
		t.Errorf("\n got %+v,\nwant %+v", got, want)
	}
}
