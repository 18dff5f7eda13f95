// Package sampletest chooses which part of a long random test is played.
//
// The environment variable CURATOR_SAMPLE is a number that says which part, or "all". Without it the number is 0, so
// that a plain go test always plays the same. Consecutive numbers play everything: five of them all of what is played in
// fifths.
//
// The packages framework/internal/sampletest and recipes/internal/sampletest are the same, because neither side can
// import the other's.
package sampletest

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Variable is the environment variable that says which part is played.
const Variable = "CURATOR_SAMPLE"

// A Sample is the part of a test that is played. Its zero value is part 0.
type Sample struct {
	number uint64
	all    bool
}

// New returns what the environment asks for, and logs how to repeat that. A value that is neither a number nor "all"
// ends the test. If one of the test's own flags is given, such as "seeds", everything is played that the flag asks for.
func New(t testing.TB, flags ...string) Sample {
	t.Helper()
	value, set := os.LookupEnv(Variable)
	s, ok := parse(value)
	switch {
	case set && !ok:
		t.Fatalf(`got %s=%q, want a number, as in %s=17, or "all"`, Variable, value, Variable)
	case given(flags):
		return Sample{all: true}
	case !s.all:
		t.Logf("a part of the test; play it again with: %s", s.command(t.Name()))
	}
	return s
}

// parse reads a value of the variable. The empty one is part 0.
func parse(value string) (s Sample, ok bool) {
	switch value {
	case "":
		return Sample{}, true
	case "all":
		return Sample{all: true}, true
	default:
		n, err := strconv.ParseUint(value, 10, 64)
		return Sample{number: n}, err == nil
	}
}

// given reports whether one of the flags stands on the command line.
func given(names []string) (found bool) {
	flag.Visit(func(f *flag.Flag) { found = found || slices.Contains(names, f.Name) })
	return found
}

// command repeats a test of the package in the working directory.
func (s Sample) command(test string) string {
	pkg := "."
	if wd, err := os.Getwd(); err == nil {
		for root := wd; filepath.Dir(root) != root; root = filepath.Dir(root) {
			if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
				pkg = "." + filepath.ToSlash(strings.TrimPrefix(wd, root))
				break
			}
		}
	}
	pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(test), "/", "$/^") + "$"
	return Variable + "=" + strconv.FormatUint(s.number, 10) + " go test " + pkg + " -run '" + pattern + "'"
}

// All reports whether everything is played. What a test expects of all its seeds together is checked only then.
func (s Sample) All() bool { return s.all }

// Part returns which of the numbers from 0 to n-1 are played: about one of so many, in ascending order. They are
// scattered, because a test may do the same thing with every third number.
func (s Sample) Part(n, of int) []int {
	numbers := rand.New(rand.NewPCG(uint64(n), uint64(of))).Perm(n) //nolint:gosec // a test repeats its seeds
	if !s.all {
		var part []int
		for i := int(s.number % uint64(of)); i < n; i += of {
			part = append(part, numbers[i])
		}
		numbers = part
	}
	slices.Sort(numbers)
	return numbers
}

// Scale returns how many of n clients, or other things that are alike, take part: one of so many, or all.
func (s Sample) Scale(n, of int) int {
	if s.all {
		return n
	}
	return n / of
}
