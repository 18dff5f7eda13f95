package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// house writes the module of testdata to a directory of its own, as a commit.
func house(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/house.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, file := range archive.Files {
		name := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {
		"-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q", "-m", "house",
	}} {
		command := exec.Command("git", args...)
		command.Dir = dir
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// houseFlags choose the test's module and its entry points.
func houseFlags(dir string, more ...string) []string {
	return append([]string{
		"-dir", dir, "-packages", "./...", "-root", "high.Lock.Acquire,high.Lock.Release", "-floors", "low,high beside",
		"-program", filepath.Join(dir, "program.txt"),
	}, more...)
}

func measured(t *testing.T, args []string) *figures {
	t.Helper()
	s, err := parse(args, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	f, err := measure(s.dirs.values[0], s)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *figures) of(t *testing.T, path string) perPackage {
	t.Helper()
	i := slices.IndexFunc(f.packages, func(p perPackage) bool { return p.path == path })
	if i < 0 {
		t.Fatalf("no figures of %s", path)
	}
	return f.packages[i]
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Interfaces, closures, function values, callbacks from the standard library and values that come out of a sync.Map are
// followed. Other implementations, other methods, what only constructors call and what another program passes are not.
func TestReachFollowsEveryKindOfCall(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	want := []string{
		"(*high.Lock).Acquire", "(*high.Lock).Acquire$1", "(*high.Lock).Release",
		"(*low.Memory).Put", "(high.byName).Len", "(high.byName).Less", "(high.byName).Swap", "(high.hidden).Do",
		"high.compare", "high.hooked", "low.grow",
	}
	slices.Sort(want)
	if !slices.Equal(f.reachedNames, want) {
		t.Errorf("reached:\n got  %v\n want %v", f.reachedNames, want)
	}
	equal(t, "reached lines of low", f.of(t, "low").reached, 5)
	equal(t, "reached lines of high", f.of(t, "high").reached, 10+1+8+3+1+1)
	equal(t, "files with reached code", f.reached, 2)
}

func TestMutableVariablesAreFoundByUseAndByType(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	got := strings.Join(f.of(t, "low").mutable, " ")
	equal(t, "mutable variables of low", got, "calls count once seen shared taken")
	equal(t, "mutable variables of high", len(f.of(t, "high").mutable), 0)
}

func TestFiguresOfOnePackage(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	low, high := f.of(t, "low"), f.of(t, "high")
	equal(t, "exported names of low", low.exported, 6) // Store, Alias, Memory, Forgotten, ErrFull, Look
	equal(t, "exported names of high", high.exported, 5)
	equal(t, "words of comment in high", high.words, 6+7+16)
	equal(t, "the most complex function of high", high.complexest.name, "Release")
	equal(t, "its complexity", high.complexest.complexity, 4)
	equal(t, "p90 of the lengths of 14 functions, the 13th", p90(high.functions), 8)
}

func TestImportsAreJudgedByFloor(t *testing.T) {
	dir := house(t)
	f := measured(t, houseFlags(dir))
	equal(t, "up; sideways", f.wrongImports(), "0; 1: beside → high")
	equal(t, "imports", f.floors.arrows, 3)
	f = measured(t, without(houseFlags(dir, "-floors", "beside,high,low"), "-floors"))
	equal(t, "up; sideways, the floors upside down", f.wrongImports(), "2: beside → high, high → low; 0")
}

func TestFloorIsThatOfTheLongestPrefix(t *testing.T) {
	floors := []string{"a/internal", "a b", "a/top"}
	for path, want := range map[string]int{"a": 1, "a/x": 1, "a/internal/x": 0, "a/top": 2, "b/top": 1, "ab": -1, "c": -1} {
		equal(t, path, floorOf(path, floors), want)
	}
}

func TestWhatIsMissingIsAnError(t *testing.T) {
	dir := house(t)
	for name, c := range map[string]struct{ flag, value, want string }{
		"a method":         {"-root", "high.Lock.Gone", "no such function"},
		"a type":           {"-root", "high.Gone.Acquire", "no such function"},
		"a package":        {"-root", "gone.Lock.Acquire", "no such function"},
		"a malformed root": {"-root", "high", "want package.Function"},
		"a pattern":        {"-packages", "./gone/...", "gone"},
		"a program":        {"-program", "gone.txt", "gone.txt"},
		"a root's caller":  {"-root", "high.Unused", "does not reach"},
		"a floor":          {"-floors", "low", "no floor"},
		"the directory":    {"-dir", filepath.Join(dir, "gone"), "gone"},
	} {
		args := without(houseFlags(dir, c.flag, c.value), c.flag)
		err := run(args, io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %s: got error %v, want one with %q", name, err, c.want)
		}
	}
}

func TestCodeThatDoesNotCompileIsAnError(t *testing.T) {
	dir := house(t)
	if err := os.WriteFile(filepath.Join(dir, "low", "broken.go"), []byte("package low\n\nvar x = gone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(houseFlags(dir), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), "undefined: gone") {
		t.Errorf("got %v, want an error with %q", err, "undefined: gone")
	}
}

// without leaves out the first use of a flag: a flag that is given twice adds up.
func without(args []string, flag string) []string {
	i := slices.Index(args, flag)
	return slices.Delete(slices.Clone(args), i, i+2)
}

func TestFlags(t *testing.T) {
	var help bytes.Buffer
	if err := run([]string{"-h"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-root") {
		t.Errorf("-h: got %v and %q, want %v and all flags", err, help.String(), flag.ErrHelp)
	}
	for _, args := range [][]string{{"-gone"}, {"word"}, {"-limit", "x"}} {
		var errs bytes.Buffer
		if err := run(args, io.Discard, &errs); !errors.Is(err, errUsage) || errs.Len() == 0 {
			t.Errorf("%v: got %v and %q, want %v and its reason", args, err, errs.String(), errUsage)
		}
	}
}

func TestColumnsAndCommits(t *testing.T) {
	dir, other := house(t), house(t)
	if err := os.WriteFile(filepath.Join(other, "high", "high.go"), []byte(
		"package high\n\ntype Lock struct{}\n\nfunc New() *Lock { return &Lock{} }\n\n"+
			"func (*Lock) Acquire([]string) {}\n\nfunc (*Lock) Release() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(append(houseFlags(dir), "-dir", other, "-names", "high", "-limit", "60"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{", changed |\n|---|---|---|---|\n", "| exported names of high that are no aliases | ≤ 50 | 5 | 2 |", "| files with that code | ≤ 50 | 2 | 1 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got:\n%s\nwant in it:\n%s", out.String(), want)
		}
	}
}

// The defaults name entry points and packages of this library. When those move, the defaults move with them.
func TestDefaultsFitThisCheckout(t *testing.T) {
	f := measured(t, nil)
	if len(f.reachedNames) < 100 {
		t.Errorf("only %d functions are reached: %v", len(f.reachedNames), f.reachedNames)
	}
	for _, p := range f.packages {
		if p.reached > p.code {
			t.Errorf("%s: %d lines reached of %d", p.path, p.reached, p.code)
		}
	}
}

func TestListHasTheLongestFunctionsOfAPackageFirst(t *testing.T) {
	var out bytes.Buffer
	if err := run(append(houseFlags(house(t)), "-list"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	high := strings.Fields(out.String()[strings.Index(out.String(), " high/"):])
	equal(t, "the longest of high", strings.Join(high[:2], " "), "high/high.go:58 Acquire")
}
