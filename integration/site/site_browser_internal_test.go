//go:build unix

package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// results are the pages that the search of a page has found.
func results(t *testing.T, page string) (found []string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && attribute(n, "class") == "md-search-result__link" {
			u, err := url.Parse(attribute(n, "href"))
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, u.Path+"#"+u.Fragment)
		}
	}
	return found
}

// inSite are results without the place where the site lies.
func inSite(found []string, dir string) (pages []string) {
	for _, page := range found {
		pages = append(pages, strings.TrimPrefix(page, filepath.ToSlash(dir)))
	}
	return pages
}

const (
	word   = "FencingToken"
	where  = "/packages/recipes/locks.html#Lease.FencingToken"
	absent = "xylophone" // no page has it
)

func TestSearchFindsAWordInADirectory(t *testing.T) {
	dir, b := wholeSite(t), newBrowser(t)
	if found := inSite(results(t, b.dump(dir, "examples/faq/index.html", "q="+word)), dir); !slices.Contains(found, where) {
		t.Errorf("got %q for %s, want %s among it", found, word, where)
	}
	if found := results(t, b.dump(dir, "examples/faq/index.html", "q="+absent)); len(found) > 0 {
		t.Errorf("got %q for a word that no page has", found)
	}
	if asked := b.hosts(); len(asked) > 0 {
		t.Errorf("got requests to %q, want none", asked)
	}
}

func TestSearchFindsAWordOnAServer(t *testing.T) {
	dir, b := wholeSite(t), newBrowser(t)
	var found map[string]string
	b.run(http.FileServer(http.Dir(dir)), `
(async () => {
  const found = {};
  for (const word of ["`+word+`", "`+absent+`"]) {
    const page = await show("/examples/faq/index.html?q=" + word, 1200);
    await until(page, () => /\d|No/.test(page.querySelector(".md-search-result__meta").innerText));
    found[word] = page.querySelector(".md-search-result").outerHTML;
  }
  done(found);
})();`, &found)
	if got := results(t, found[word]); !slices.Contains(got, where) {
		t.Errorf("got %q for %s, want %s among it", got, word, where)
	}
	if got := results(t, found[absent]); len(got) > 0 {
		t.Errorf("got %q for a word that no page has", got)
	}
	if asked := b.hosts(); len(asked) > 0 {
		t.Errorf("got requests to %q, want none", asked)
	}
}

// The tests above would see a request to another server.
func TestBrowserShowsWhichHostsAPageAsks(t *testing.T) {
	withMkDocs(t)
	dir, b := t.TempDir(), newBrowser(t)
	if err := write(filepath.Join(dir, "page.html"), []byte(`<img src="http://elsewhere.example/picture.png">`)); err != nil {
		t.Fatal(err)
	}
	b.dump(dir, "page.html", "")
	if asked := b.hosts(); !slices.Equal(asked, []string{"elsewhere.example"}) {
		t.Errorf("got requests to %q, want elsewhere.example", asked)
	}
}

// No page is wider than a phone: what is wide is scrolled by itself.
func TestPagesFitAPhone(t *testing.T) {
	dir := wholeSite(t)
	texts, err := site{dir: "../.."}.readPages()
	if err != nil {
		t.Fatal(err)
	}
	pages := []string{"/wide.html", "/packages/recipes/locks.html", "/packages/framework.html"}
	for name := range texts {
		pages = append(pages, "/"+builtName(place(name)))
	}
	list, err := json.Marshal(pages)
	if err != nil {
		t.Fatal(err)
	}
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(dir)))
	files.HandleFunc("/wide.html", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!DOCTYPE html><p style="width: 900px">wide</p>`))
	})
	var widths map[string]int
	newBrowser(t).run(files, `
(async () => {
  const widths = {};
  for (const address of `+string(list)+`) {
    widths[address] = (await show(address, 390)).documentElement.scrollWidth;
    document.querySelector("iframe").remove();
  }
  done(widths);
})();`, &widths)
	for _, page := range pages {
		if got := widths[page]; got == 0 || (got > 390) != (page == "/wide.html") {
			t.Errorf("%s: got a width of %d on a phone with 390", page, got)
		}
	}
}

func TestColoursFollowTheSystem(t *testing.T) {
	dir, b := wholeSite(t), newBrowser(t)
	for scheme, flags := range map[string][]string{"default": nil, "slate": {"--blink-settings=preferredColorScheme=0"}} {
		_, tag, _ := strings.Cut(b.dump(dir, "index.html", "", flags...), "<body")
		tag, _, _ = strings.Cut(tag, ">")
		if want := `data-md-color-scheme="` + scheme + `"`; !strings.Contains(tag, want) {
			t.Errorf("%v: got %.300s, want %s", flags, tag, want)
		}
	}
}
