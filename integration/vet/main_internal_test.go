package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A Go that is newer than the one of x/tools may bring an analyzer that the suite lacks.
func TestSuiteHasEveryAnalyzerOfGoVet(t *testing.T) {
	help, err := exec.CommandContext(t.Context(), "go", "tool", "vet", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, registered, found := strings.Cut(string(help), "Registered analyzers:")
	registered, _, end := strings.Cut(registered, "By default all analyzers are run.")
	if !found || !end {
		t.Fatalf("go tool vet help names no analyzers:\n%s", help)
	}
	var names []string
	for _, a := range suite {
		names = append(names, a.Name)
	}
	theirs := regexp.MustCompile(`(?m)^ {4}(\w+) `).FindAllStringSubmatch(registered, -1)
	if len(theirs) < 30 {
		t.Errorf("got %d analyzers of go vet, want at least 30:\n%s", len(theirs), help)
	}
	for _, name := range theirs {
		if !slices.Contains(names, name[1]) {
			t.Errorf("the suite lacks %s, which go vet has", name[1])
		}
	}
}

// module writes the files of a module, and returns its directory.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestVetFindsWhatIsWrongOnThatSystemAlone(t *testing.T) {
	dir := module(t, map[string]string{
		"go.mod":           "module example.com/m\n\ngo 1.25.0\n",
		"m.go":             "package m\n",
		"wrap_windows.go":  "package m\n\nimport \"fmt\"\n\nfunc wrap(f string, args ...any) { fmt.Printf(f, args...) }\n",
		"x_windows.go":     "package m\n\nfunc _() { wrap(\"%d\", \"text\") }\n",
		"m_386.go":         "package m\n\nvar Int int = 1 << 40\n",
		"m_darwin_test.go": "package m_test\n\nfunc _() { unknown() }\n",
	})
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for system, want := range map[string]string{
		"windows/amd64": `x_windows\.go:3:\d+: .*wrap format %d has arg "text" of wrong type string\n`,
		"linux/386":     `m_386\.go:3:\d+: .*overflows.*\n`,
		"darwin/arm64":  `m_darwin_test\.go:3:\d+: undefined: unknown\n`,
	} {
		var out bytes.Buffer
		err := run([]string{"-dir", dir, system, "./..."}, &out)
		if !errors.Is(err, errFound) || !regexp.MustCompile(`^\S*`+want+`$`).MatchString(out.String()) {
			t.Errorf("%s: got %v\n%s\nwant the line %s", system, err, &out, want)
		}
	}
}

// What go vet finds nothing in ends well, and prints nothing.
func TestVetPassesItsOwnSources(t *testing.T) {
	var out bytes.Buffer
	if err := run([]string{"linux/386", "."}, &out); err != nil || out.Len() > 0 {
		t.Errorf("got %v\n%s, want nothing", err, &out)
	}
}

func TestVetRefusesWrongArguments(t *testing.T) {
	for _, args := range [][]string{{}, {"windows"}, {"-unknown", "windows/amd64"}} {
		if err := run(args, &bytes.Buffer{}); !errors.Is(err, errUsage) {
			t.Errorf("%q: got %v, want %v", args, err, errUsage)
		}
	}
	if err := run([]string{"-dir", t.TempDir(), "windows/amd64", "./..."}, &bytes.Buffer{}); err == nil {
		t.Error("got no error for a directory without packages")
	}
}
