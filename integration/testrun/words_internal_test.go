package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest/await"
)

// A test that wrote the words of await itself could not know whether it had failed before.
func TestOnlyAwaitSaysThatATestTimedOut(t *testing.T) {
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, file fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch {
		case name == "framework/zktest/await", name == "integration/testrun", name == "integration/.cache", name == ".git":
			return fs.SkipDir
		case filepath.Ext(name) != ".go":
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if code, _, _ := strings.Cut(string(line), "//"); strings.Contains(code, await.TimedOut) {
				t.Errorf("%s:%d: package await says %q: use it", name, i+1, await.TimedOut)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
