package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestCheckLinksNamesEachThatIsWrong(t *testing.T) {
	good := fstest.MapFS{
		"index.html": {Data: []byte(`<a href="a/b.html#c">1</a> <a href="#d">2</a> <p id="d"></p> <a href="https://e.example/f">3</a>
			<img src="p.svg"> <link rel="canonical" href="https://e.example/"> <img src="data:image/png;base64,AA"> <a href="a/">4</a>`)},
		"a/b.html":     {Data: []byte(`<h1 id="c"></h1> <a href="..">5</a> <script src="../s.js"></script>`)},
		"a/index.html": {}, "404.html": {Data: []byte(`<a href="/curator/a/b.html">6</a>`)}, "p.svg": {}, "s.js": {},
		"s.css": {Data: []byte(`a { background: url("data:image/svg+xml,x") } b { background: url(p.svg) }`)},
	}
	if err := checkLinks(good); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	for name, tt := range map[string]struct{ file, text, want string }{
		"no page":     {"x.html", `<a href="gone.html">1</a>`, "x.html: gone.html: file does not exist"},
		"no anchor":   {"x.html", `<a href="a/b.html#gone">1</a>`, "x.html: a/b.html#gone: a/b.html has no such anchor"},
		"no picture":  {"x.html", `<img src="gone.svg">`, "x.html: gone.svg: file does not exist"},
		"no script":   {"404.html", `<script src="/curator/gone.js"></script>`, "404.html: /curator/gone.js: file does not exist"},
		"a font":      {"x.html", `<link rel="stylesheet" href="https://e.example/f.css">`, "x.html: https://e.example/f.css: " + errElsewhere.Error()},
		"a script":    {"x.html", `<script src="//e.example/f.js"></script>`, "x.html: //e.example/f.js: " + errElsewhere.Error()},
		"an import":   {"x.css", `@import "https://e.example/f.css";`, "x.css: https://e.example/f.css: " + errElsewhere.Error()},
		"a style's":   {"x.css", `a { background: url(//e.example/f.png) }`, "x.css: //e.example/f.png: " + errElsewhere.Error()},
		"half a link": {"x.html", `<a href="%zz">1</a>`, "x.html: %zz: "},
	} {
		site := fstest.MapFS{tt.file: {Data: []byte(tt.text)}}
		for file, data := range good {
			if site[file] == nil {
				site[file] = data
			}
		}
		if err := checkLinks(site); err == nil || !strings.HasPrefix(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", name, err, tt.want)
		}
	}
	if err := checkLinks(fstest.MapFS{}); err == nil {
		t.Error("got nil for a site without pages")
	}
}
