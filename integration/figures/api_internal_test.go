package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A change of an exported name is a change of this file, which a review shows.
func TestTheAPIIsThatOfTheCommittedFile(t *testing.T) {
	c, err := open("../..")
	if err != nil {
		t.Fatal(err)
	}
	api, err := c.api()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("../..", apiFile))
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(api, "\n"), strings.Split(string(text), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s has %q, the library does not", apiFile, line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("the library has %q, %s does not", line, apiFile)
		}
	}
	if t.Failed() {
		t.Log("if this is meant: cd integration/figures && go run . -api > ../api.txt, and a line in the CHANGELOG")
	}
}

func TestTheAPIHasALineForEachName(t *testing.T) {
	m, err := loaded(unpack(t))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(m.api(), "\n")
	for _, want := range []string{
		"low: type Store interface", "low: method Store.Put(key string)", "low: type Alias = Memory", "low: type Memory struct",
		"low: method Memory.Put(key string)", "low: var ErrFull error", "low: func Look(key string) (int, *int)",
		"low: const Most untyped int", "low: field Wide.Size int", "low: field Wide.Memory Memory", "low: method Wide.Put(key string)",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("got\n%s\nwant in it %q", strings.Join(got, "\n"), want)
		}
	}
	for _, line := range got {
		if strings.Contains(line, "small") || strings.Contains(line, "hidden") {
			t.Errorf("got %q, which others cannot use", line)
		}
	}
}
