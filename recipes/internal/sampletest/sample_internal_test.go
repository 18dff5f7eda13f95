package sampletest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestConsecutiveNumbersPlayEverythingOnce(t *testing.T) {
	for _, of := range []int{1, 2, 3, 5} {
		for n := range 100 {
			for _, first := range []uint64{0, 1, 17, 20261128, 1<<64 - 10} {
				played := make([]int, n)
				for k := range of {
					part := Sample{number: first + uint64(k)}.Part(n, of)
					if !slices.IsSorted(part) || len(part) < n/of || len(part) > n/of+1 {
						t.Fatalf("part %d of %d, of %d: got %v, want about a part of that size, in order", first+uint64(k), of, n, part)
					}
					for _, i := range part {
						played[i]++
					}
				}
				for i, times := range played {
					if times != 1 {
						t.Fatalf("%d of %d was played %d times by the numbers from %d to %d, want once", i, n, times, first, first+uint64(of)-1)
					}
				}
			}
		}
	}
}

func TestAllPlaysEverythingInOrder(t *testing.T) {
	all := Sample{all: true}
	for n := range 100 {
		part := all.Part(n, 5)
		if len(part) != n || all.Scale(n, 4) != n || !all.All() {
			t.Fatalf("got %v and %d of %d, want all", part, all.Scale(n, 4), n)
		}
		for i, got := range part {
			if i != got {
				t.Fatalf("got %v, want 0 to %d", part, n-1)
			}
		}
	}
}

// A third of the seeds must not be those of one version, if a test takes versions in turn.
func TestAPartIsScattered(t *testing.T) {
	for _, n := range []int{24, 30, 50, 100, 150} {
		for number := range uint64(3) {
			rests := map[int]int{}
			for _, i := range (Sample{number: number}).Part(n, 3) {
				rests[i%3]++
			}
			if len(rests) < 3 {
				t.Errorf("part %d of %d: got %v by the rest of a division by three, want some of each", number, n, rests)
			}
		}
	}
}

func TestScaleTakesAPart(t *testing.T) {
	if got := (Sample{}).Scale(1000, 4); got != 250 || (Sample{}).All() {
		t.Errorf("got %d of 1000, want a quarter", got)
	}
}

// A failing is a test that ends, or logs.
type failing struct {
	testing.TB
	log, fatal string
}

func (f *failing) Helper()                           {}
func (f *failing) Name() string                      { return "TestIt/with one" }
func (f *failing) Logf(format string, args ...any)   { f.log = fmt.Sprintf(format, args...) }
func (f *failing) Fatalf(format string, args ...any) { f.fatal = fmt.Sprintf(format, args...) }

var (
	_ = flag.Bool("absent", false, "a flag that is not given")
	_ = flag.Bool("given", false, "a flag that is given")
)

func TestTheEnvironmentSaysWhichPart(t *testing.T) {
	if err := flag.Set("given", "true"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		value, flag string
		want        Sample
		log, fatal  string
	}{
		{"", "", Sample{}, "CURATOR_SAMPLE=0 go test ./", ""},
		{"17", "", Sample{number: 17}, "/internal/sampletest -run '^TestIt$/^with one$'", ""},
		{"18446744073709551615", "", Sample{number: 1<<64 - 1}, "CURATOR_SAMPLE=18446744073709551615 go", ""},
		{"all", "", Sample{all: true}, "", ""},
		{"17", "absent", Sample{number: 17}, "CURATOR_SAMPLE=17", ""},
		{"17", "given", Sample{all: true}, "", ""},
		{"-1", "", Sample{}, "", `got CURATOR_SAMPLE="-1", want a number, as in CURATOR_SAMPLE=17, or "all"`},
		{"All", "", Sample{}, "", "want a number"},
		{" 1", "", Sample{}, "", "want a number"},
		{"1.5", "given", Sample{}, "", "want a number"},
	} {
		t.Setenv(Variable, test.value)
		f := &failing{}
		got := New(f, test.flag)
		if f.fatal == "" && got != test.want || !strings.Contains(f.log, test.log) || (test.log == "") != (f.log == "") && f.fatal == "" ||
			!strings.Contains(f.fatal, test.fatal) || (test.fatal == "") != (f.fatal == "") {
			t.Errorf("%q with flag %q: got %+v, log %q, failure %q; want %+v, %q, %q",
				test.value, test.flag, got, f.log, f.fatal, test.want, test.log, test.fatal)
		}
	}
}

func TestBothPackagesAreTheSame(t *testing.T) {
	var texts []string
	for _, side := range []string{"framework", "recipes"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", side, "internal", "sampletest", "sample.go"))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Error("framework/internal/sampletest differs from recipes/internal/sampletest, want one text")
	}
}
