package run

import (
	"slices"
	"strings"
	"testing"
)

func TestHeldPathsSurviveTheEnvironment(t *testing.T) {
	for _, paths := range [][]string{nil, {"/a"}, {"/a", "/b:c"}, {"/100%3A", "/%"}} {
		var value strings.Builder
		for _, p := range paths {
			value.WriteString(escape.Replace(p) + ":")
		}
		got := heldAround(func(string) string { return value.String() })
		if !slices.Equal(got, paths) {
			t.Errorf("got %q, want %q", got, paths)
		}
	}
}

func TestVariablesOfAnOuterLockAreReplacedAndSettingsKept(t *testing.T) {
	for variable, want := range map[string]bool{
		"ZKLOCK_PATH=/a": true, "ZKLOCK_0_NODE=x": true, "ZKLOCK_12_TOKEN=3": true, "ZKLOCK_HELD=": true, "ZKLOCK_KEEPERS=": true,
		"ZKLOCK_AUTH=digest:a:b": false, "ZKLOCK_SESSION=10s": false, "ZKLOCK_": false, "PATH=/bin": false, "ZKLOCK_PATHS=": false,
	} {
		if got := setByUs(variable); got != want {
			t.Errorf("%s: got %v, want %v", variable, got, want)
		}
	}
}

func TestPrintableRemovesWhatMovesTheCursor(t *testing.T) {
	if got, want := Printable("a\x1b[2Jb\nc\u009bd\u202eé"), "a?[2Jb?c?d?é"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
