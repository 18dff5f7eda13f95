package build

import (
	"slices"
	"testing"
)

func TestGuaranteesAreParagraphsOfTheDocumentation(t *testing.T) {
	got, err := parseGuarantees("// Package x.\n//\n//\tG1   One: a\n//\t     b.\n//\tG2   Two: c.\n//\n// More.\npackage x\n")
	if want := []guarantee{{"G1", "One", "a b."}, {"G2", "Two", "c."}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := parseGuarantees("// Package x has none.\npackage x\n"); err == nil {
		t.Error("got no error without guarantees")
	}
}
