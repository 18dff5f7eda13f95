package pages_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// texts are all files for people to read, pages and others.
func texts(t *testing.T) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".cache" || entry.Name() == ".git"):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			found = append(found, path)
		}
		return nil
	})
	if err != nil || len(found) < 15 {
		t.Fatal(found, err)
	}
	return found
}

func TestLinksOfAllTextsLeadSomewhere(t *testing.T) {
	links := 0
	for _, file := range texts(t) {
		for _, link := range regexp.MustCompile(`\]\(([\w./][^)#]*)?(#[^)]*)?\)`).FindAllSubmatch(contents(t, file), -1) {
			links++
			if err := follow(file, string(link[1]), string(link[2])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if links < 150 {
		t.Errorf("got %d links, want at least 150", links)
	}
}

// follow fails unless a link of a page leads to a file, and to a heading in it if it says so. Links to elsewhere are
// those of the badges, which must be about this module.
func follow(page, link, heading string) error {
	if strings.HasPrefix(link, "https://") {
		for _, host := range []string{"pkg.go.dev", "img.shields.io", "github.com"} {
			if strings.HasPrefix(link, "https://"+host+"/") && strings.Contains(link, "gocurator/curator") {
				return nil
			}
		}
		return fmt.Errorf("%s is not about this module", link)
	}
	target := filepath.Join(filepath.Dir(page), link)
	if link == "" {
		target = page
	}
	if _, err := os.Stat(target); err != nil || heading == "" {
		return err
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if strings.HasPrefix(line, "#") && slug(line) == heading {
			return nil
		}
	}
	return fmt.Errorf("%s has no heading %s", target, heading)
}

// slug is the anchor of a heading.
func slug(heading string) string {
	heading = strings.ToLower(strings.TrimSpace(strings.TrimLeft(heading, "#")))
	heading = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(heading, "")
	return "#" + strings.ReplaceAll(heading, " ", "-")
}

func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	for link, good := range map[string]bool{
		"faq/README.md": true, "faq/README.md#what-can-a-lock-not-do": true, "#pages": false, "none.md": false,
		"faq/README.md#what-can-a-lock-do": false, "https://pkg.go.dev/github.com/gocurator/curator": true, "https://pkg.go.dev/x": false,
	} {
		file, heading, found := strings.Cut(link, "#")
		if found {
			heading = "#" + heading
		}
		if err := follow("README.md", file, heading); (err == nil) != good {
			t.Errorf("%s: got %v, want a good link: %v", link, err, good)
		}
	}
}

// A comment cites a place as "words" in a file, by its path in the module or beside the source: the file has to have
// these words.
func TestCommentsCiteWordsThatFilesHave(t *testing.T) {
	comment, cited := regexp.MustCompile(`\s+//\s*`), regexp.MustCompile(`"([^"]+)" in ([\w./]*\w\.(?:go|md))\b`)
	citations := 0
	for _, dir := range []string{"../framework", "../recipes"} {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			for _, c := range cited.FindAllSubmatch(comment.ReplaceAll(contents(t, path), []byte(" ")), -1) {
				citations++
				file := filepath.Join("..", string(c[2]))
				if !bytes.Contains(c[2], []byte("/")) {
					file = filepath.Join(filepath.Dir(path), string(c[2]))
				}
				if !bytes.Contains(contents(t, file), c[1]) {
					t.Errorf("%s: got no %q, which %s cites", file, c[1], path)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if citations < 2 {
		t.Errorf("got %d citations, want at least 2", citations)
	}
}

// program is one that a text has run or install, or the directory to do so in.
var program = regexp.MustCompile(`cd ([\w./-]+) &&|go (?:run|install) (?:-C ([\w./-]+) )?(?:github\.com/gocurator/curator/)?([\w./-]+)`)

func TestProgramsThatTextsRunExist(t *testing.T) {
	found := 0
	for _, file := range texts(t) {
		for line := range bytes.Lines(contents(t, file)) {
			dir := ".."
			for _, run := range program.FindAllSubmatch(line, -1) {
				if from := string(run[1]); from != "" {
					dir = filepath.Join("..", from)
					continue
				}
				in := filepath.Join(dir, string(run[2]), string(run[3]))
				if in == ".." { // in a directory that the text named before
					continue
				}
				found++
				if sources, err := filepath.Glob(filepath.Join(in, "*.go")); err != nil || len(sources) == 0 {
					t.Errorf("%s: %s: there is no program in %s", file, run[0], in)
				}
			}
		}
	}
	if found < 15 {
		t.Errorf("got %d programs, want at least 15", found)
	}
}

// place is a file or a directory of this repository.
var place = regexp.MustCompile("`((?:\\.ci|\\.github|examples|framework|integration|recipes|retry)/[\\w./-]+)")

func TestPlacesThatTextsNameExist(t *testing.T) {
	found := 0
	for _, file := range texts(t) {
		if strings.HasSuffix(file, "CHANGELOG.md") { // names some that are gone
			continue
		}
		for _, name := range place.FindAllSubmatch(contents(t, file), -1) {
			if strings.Contains(string(name[1]), "/v0.") || strings.HasPrefix(string(name[1]), "integration/.cache") {
				continue // a tag; what integration/run makes
			}
			found++
			if _, err := os.Stat(filepath.Join("..", string(name[1]))); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if found < 30 {
		t.Errorf("got %d places, want at least 30", found)
	}
}
