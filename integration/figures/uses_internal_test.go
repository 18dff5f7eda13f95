package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// Each of a.go and b.go uses the other, by several names; c.go uses both. Whichever of the two lies lower, one use
// points up.
func TestUsesAgainstTheOrderAreCounted(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	got := f.of(t, "beside/circle").uses
	equal(t, "uses between files", got.arrows, 4)
	equal(t, "those that point up", len(got.up), 1)
	equal(t, "as the table has it", share(len(got.up), got.arrows), "25 %: 1 of 4")
	equal(t, "in a package without any", share(0, 0), "")
	var out bytes.Buffer
	if err := run(append(houseFlags(house(t)), "-up", "beside/circle"), &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "a.go → b.go: b\n" && got != "b.go → a.go: A field\n" {
		t.Errorf("got %q, want the use that points up, with its names", got)
	}
	err := run(append(houseFlags(house(t)), "-up", "gone"), io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "no package") {
		t.Errorf("got error %v for a package that is not there, want one that says so", err)
	}
}
