package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestCheckSameAsGitHubNamesWhatDiffers(t *testing.T) {
	const page = "# A\n\nWords `x|y`:\n\n* one\n* two\n\n| a | b |\n|---|---|\n| c | d |\n"
	const same = `<nav>other words</nav><article><h1 id="a">A<a class="headerlink" href="#a">¶</a></h1><p>Words <code>x|y</code>:</p>
		<ul><li>one</li><li><p>two</p></li></ul>
		<div class="t"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>c</td><td>d</td></tr></tbody></table></div></article>`
	for name, tt := range map[string]struct{ page, html, want string }{
		"the same":                  {page, same, ""},
		"a list as words":           {page, strings.ReplaceAll(strings.ReplaceAll(same, "<li>", "* "), "</li>", ""), "on GitHub"},
		"a word less":               {page, strings.ReplaceAll(same, "two", ""), `two </li>`},
		"a cell less":               {page, strings.ReplaceAll(same, "<td>d</td>", ""), `<td> d </td>`},
		"words behind it":           {page, strings.ReplaceAll(same, "</article>", "more</article>"), `more`},
		"a coloured program":        {"```go\nfunc f() {}\n```\n", `<pre><span>func</span> <span>f</span><a href="#1"></a>() {}</pre>`, ""},
		"another program":           {"```go\nfunc f() {}\n```\n", `<pre>func g() {}</pre>`, "func g() {}"},
		"a title of mkdocs.yml":     {"words\n", "<article><h1>Title</h1><p>words</p></article>", ""},
		"a title that it has":       {"# Title\n\nwords\n", "<article><h1>Other</h1><p>words</p></article>", "Other"},
		"a picture from elsewhere":  {"![CI](https://a.example/b.svg)\n", "<p>CI</p>", ""},
		"a picture of the page":     {"![p](p.svg)\n", "<p>p</p>", "<img>"},
		"a page that was not built": {"words\n", "", "file does not exist"},
	} {
		built := fstest.MapFS{}
		if tt.html != "" {
			built["a/index.html"] = &fstest.MapFile{Data: []byte(tt.html)}
		}
		err := checkSameAsGitHub(map[string][]byte{"a/README.md": []byte(tt.page)}, built)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "a/README.md: ")) {
			t.Errorf("%s: got %v, want %q in it", name, err, tt.want)
		}
	}
}
