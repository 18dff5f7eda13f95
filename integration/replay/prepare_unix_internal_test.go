//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNodeThatIsMissingOrTooOldIsAnErrorThatSaysHowToGetIt(t *testing.T) {
	for name, c := range map[string]struct{ prints, want string }{
		"missing": {"", "which is not in PATH"},
		"old":     {"v12.22.1", "is v12.22.1"},
		"strange": {"hello", "is hello"},
		"new":     {"v18.0.0", ""},
	} {
		dir := t.TempDir()
		if c.prints != "" {
			script := "#!/bin/sh\necho " + c.prints + "\n"
			if err := os.WriteFile(filepath.Join(dir, "node"), []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", dir)
		switch _, err := findNode(t.Context()); {
		case c.want == "" && err != nil:
			t.Errorf("%s: got %v, want no error", name, err)
		case c.want == "":
		case err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "apt-get install nodejs"):
			t.Errorf("%s: got %v, want an error with %q and how to install it", name, err, c.want)
		}
	}
}
