package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEverySeries runs all of them in small, on the server in memory: their checks are the test.
func TestEverySeries(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	if err := run(t.Context(), []string{"-server", "zktest", "-max", "50", "-time", "1us", "-down", "1us", "-out", dir}, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "scale.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range r.Tables {
		if len(want.Rows) == 0 {
			t.Errorf("%s has no rows", want.Name)
		}
		if !strings.Contains(out.String(), want.Title) {
			t.Errorf("%s is not printed", want.Name)
		}
	}
	for _, f := range figures {
		_, err := os.Stat(filepath.Join(dir, f.file+".svg"))
		if err != nil && f.file != "heap" { // this process has the server as well
			t.Error(err)
		}
	}
}

func TestWrongFlags(t *testing.T) {
	for _, args := range [][]string{{"-series", "none"}, {"-server", "none"}, {"-max", "x"}} {
		if run(t.Context(), args, io.Discard) == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[number]string{0: "0", 12: "12", 1.234: "1.23", 1234.5: "1234"} {
		if v.String() != want {
			t.Errorf("%v is written %s", float64(v), v)
		}
	}
	text, err := json.Marshal([]number{number(math.NaN()), 1.5})
	if err != nil || string(text) != "[null,1.5]" {
		t.Errorf("%s, %v", text, err)
	}
}
