package main

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// A figure is a number that the budget limits.
type figure struct {
	name  string
	value int
}

// apiFile has the exported API of the library, relative to a checkout.
const apiFile = "integration/api.txt"

// longFile is how many lines a file of the library should not exceed.
const longFile = 260

// count returns the figures for which reading files is enough.
func (c *code) count() ([]figure, error) {
	figures := c.ofPackages()
	for _, more := range []func() ([]figure, error){c.ofAPI, c.ofDownload, c.ofPages, c.ofCode} {
		found, err := more()
		if err != nil {
			return nil, err
		}
		figures = append(figures, found...)
	}
	return figures, nil
}

func (c *code) ofPackages() []figure {
	var code, helpers, tests, files, words, long, engine, public int
	for _, p := range c.packages {
		if p.public() {
			public++
		}
		if !below(p.dir, libraryDirs...) {
			continue
		}
		files += len(p.tests)
		for _, text := range p.tests {
			tests += len(text.code)
		}
		for _, text := range p.code {
			if p.helper {
				helpers += len(text.code)
				continue
			}
			code += len(text.code)
			words += text.words
			if text.lines > longFile {
				long++
			}
			if p.engine() {
				engine += len(text.code)
			}
		}
	}
	return []figure{
		{"code lines of the library", code},
		{"code lines of the library's test helpers", helpers},
		{"code lines of the library's tests", tests},
		{"test files of the library", files},
		{"code lines of the engine and the session", engine},
		{"files of the library over 260 lines", long},
		{"words in the library's comments", words},
		{"packages of the top-level module", len(c.packages)},
		{"public packages of the top-level module", public},
	}
}

// engine reports whether a package is the engine of the recipes, the session interface, or a layer below it, transport
// and clock excepted.
func (p *pkg) engine() bool {
	return below(p.dir, "framework/session", "recipes/internal/queue", "framework/internal") &&
		!below(p.dir, "framework/internal/transport", "framework/internal/clock")
}

// ofAPI counts the lines of the file that has the API. A test compares the file with the code.
func (c *code) ofAPI() ([]figure, error) {
	text, err := fs.ReadFile(c.files, apiFile)
	if err != nil {
		return nil, err
	}
	var all, helpers, top int
	for line := range strings.Lines(string(text)) {
		dir, rest, _ := strings.Cut(line, ": ")
		all++
		if p := c.packages[dir]; p != nil && p.helper {
			helpers++
		}
		if !strings.HasPrefix(rest, "method ") && !strings.HasPrefix(rest, "field ") {
			top++
		}
	}
	return []figure{
		{"exported names with methods and fields", all},
		{"exported names with methods and fields, of test helpers", helpers},
		{"exported names without methods and fields", top},
	}, nil
}

func (c *code) ofDownload() ([]figure, error) {
	bytes, files, err := c.download()
	// Versions of Go compress a little differently, which kilobytes hide.
	return []figure{{"kilobytes of the download", (bytes + 999) / 1000}, {"files of the download", files}}, err
}

func (c *code) ofPages() ([]figure, error) {
	const readme, contributing = "README.md", ".github/CONTRIBUTING.md"
	figures := []figure{{"words of README.md", 0}, {"words of CONTRIBUTING.md", 0}, {"words of all Markdown", 0}, {"words of all doc.go", 0}}
	page := func(name string) bool {
		return path.Ext(name) == ".md" && !below(name, "integration/bench/figures") || path.Base(name) == "doc.go"
	}
	err := c.each(page, func(name string, content []byte) error {
		words := len(strings.Fields(string(content)))
		switch name {
		case readme:
			figures[0].value = words
		case contributing:
			figures[1].value = words
		}
		if path.Ext(name) == ".md" {
			figures[2].value += words
		} else {
			figures[3].value += words
		}
		return nil
	})
	if figures[0].value*figures[1].value == 0 {
		err = errors.Join(err, errors.New(readme+" or "+contributing+" is missing or empty"))
	}
	return figures, err
}

func (c *code) ofCode() ([]figure, error) {
	figures := []figure{{"code lines of all Go, benchmarks excepted", 0}, {"code lines of zklock and holds", 0}}
	code := func(name string) bool { return path.Ext(name) == ".go" && !below(name, "integration/bench") }
	err := c.each(code, func(name string, source []byte) error {
		lines := len(scan(source).code)
		figures[0].value += lines
		if below(name, "examples/zklock", "examples/holds") {
			figures[1].value += lines
		}
		return nil
	})
	return figures, err
}
