package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A runner tests bugs.
type runner struct {
	root    string
	graph   graph
	timeout time.Duration // for the tests of one package
	log     func(format string, args ...any)
}

// try runs tests until one fails. It begins with the test that noticed the bug last time, if there is one.
func (r runner) try(ctx context.Context, b bug, last result) (result, error) {
	began := time.Now()
	got := result{bug: b.name, verdict: "survived"}
	dir, err := os.MkdirTemp("", "planted-")
	if err != nil {
		return got, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := b.overlay(r.root, dir)
	if err != nil {
		return got, err
	}
	packages := r.graph.tests(b)
	if len(packages) == 0 {
		return got, fmt.Errorf("%s: no test uses what it changes", b.name)
	}
	var first [][]string
	if last.verdict == "found" {
		top, _, _ := strings.Cut(last.test, "/")
		first = append(first, []string{"-run=^" + regexp.QuoteMeta(top) + "$", library + "/" + last.pkg})
	}
	for _, p := range packages {
		first = append(first, []string{p})
	}
	for _, args := range first {
		verdict, test, err := r.test(ctx, overlay, append(append([]string{}, b.flags...), args...))
		if err != nil {
			return got, fmt.Errorf("%s: %w", b.name, err)
		}
		if verdict == "passed" {
			continue
		}
		got.verdict, got.test = verdict, test
		got.pkg = strings.TrimPrefix(args[len(args)-1], library+"/")
		break
	}
	got.seconds = int(time.Since(began).Seconds() + 0.5)
	return got, nil
}

// overlay writes the changed files, and the list of them for go's -overlay.
func (b bug) overlay(root, dir string) (file string, err error) {
	texts, err := b.files(root)
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range texts {
		replace[path] = filepath.Join(dir, fmt.Sprintf("%d-%s", len(replace), filepath.Base(path)))
		if err := os.WriteFile(replace[path], []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	file = filepath.Join(dir, "overlay.json")
	return file, os.WriteFile(file, list, 0o600)
}

var (
	failed  = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	running = regexp.MustCompile(`(?m)^\s*(Test\S+) \(\d`)
)

// test runs go test once. Programs that tests build see the bug too: GOFLAGS reaches their compiler.
func (r runner) test(ctx context.Context, overlay string, args []string) (verdict, test string, err error) {
	args = append([]string{"test", "-failfast", "-timeout", r.timeout.String()}, args...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(r.root, "integration")
	cmd.Env = append(os.Environ(), strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	r.log("%s\n%s", strings.Join(args, " "), &out)
	text := out.String()
	switch {
	case ctx.Err() != nil:
		return "", "", ctx.Err()
	case err == nil:
		return "passed", "", nil
	case strings.Contains(text, "[build failed]"), strings.Contains(text, "[setup failed]"):
		return "", "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, text)
	case strings.Contains(text, "panic: test timed out after"):
		return "hung", firstMatch(running, text), nil
	}
	return "found", deepest(text), nil
}

// deepest returns the first test that failed: the part of it, if it has parts. A panic without a line of go test's is
// named after what it says.
func deepest(text string) string {
	all := failed.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		line, _, _ := strings.Cut(text[max(0, strings.Index(text, "panic: ")):], "\n")
		return strings.ReplaceAll(line, " ", "_")
	}
	name := all[0][1]
	for _, next := range all[1:] {
		if strings.HasPrefix(next[1], name+"/") {
			name = next[1]
		}
	}
	return name
}

func firstMatch(pattern *regexp.Regexp, text string) string {
	if match := pattern.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	return "?"
}
