package main

import "testing"

func TestIndentPutsWhatBelongsToAnItemFourColumnsIn(t *testing.T) {
	for name, tt := range map[string]struct{ page, want string }{
		"words":                             {"a\nb\n\n    code\n", "a\nb\n\n    code\n"},
		"an item of two lines":              {"- a\n  b\n", "- a\n    b\n"},
		"a numbered item":                   {"1. a\n   b\n10. c\n    d\n", "1. a\n    b\n10. c\n    d\n"},
		"a line that begins further out":    {"- a\nb\n", "- a\nb\n"},
		"a paragraph of an item":            {"- a\n\n  b\n\nc\n", "- a\n\n    b\n\nc\n"},
		"a list in a list":                  {"- a\n  - b\n    c\n- d\n", "- a\n    - b\n        c\n- d\n"},
		"code in an item":                   {"- a\n  ```\n  x\n    y\n  ```\n  b\n", "- a\n\n    ```\n    x\n      y\n    ```\n    b\n"},
		"code that looks like a list":       {"```\n- a\n  b\n```\n  c\n", "```\n- a\n  b\n```\n  c\n"},
		"an item after one with paragraphs": {"1. a\n\n   b\n2. c\n3. d\n", "1. a\n\n    b\n\n2. c\n\n3. d\n"},
		"a heading behind a list":           {"- a\n# b\n  c\n", "- a\n# b\n  c\n"},
	} {
		if got := indent(tt.page); got != tt.want {
			t.Errorf("%s:\n got %q,\nwant %q", name, got, tt.want)
		}
	}
}
