package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestADirectoryThatHasFilesIsNotBuiltInto(t *testing.T) {
	r := release{repository: repository{"../.."}, version: "HEAD", out: io.Discard}
	if err := r.build(t.Context(), ".", targets); err == nil {
		t.Error("got nil for a directory that has files, want a refusal")
	}
}

func TestTargetsAreChosenByAList(t *testing.T) {
	for list, want := range map[string][]target{
		"": targets, "windows/arm64,linux/amd64": {{"linux", "amd64"}, {"windows", "arm64"}}, "plan9/386": nil, "linux/amd64,": nil,
	} {
		got, err := parseTargets(list)
		if (err != nil) != (want == nil) || want != nil && !slices.Equal(got, want) {
			t.Errorf("%q: got %v and %v, want %v", list, got, err, want)
		}
	}
}

func TestDirectoriesThatDifferInOneByteAreNotTheSame(t *testing.T) {
	one, other := t.TempDir(), t.TempDir()
	for dir, text := range map[string]string{one: "a", other: "b"} {
		if err := os.WriteFile(filepath.Join(dir, "file"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := sameFiles(one, one); err != nil {
		t.Errorf("got %v for one directory twice, want nil", err)
	}
	if err := sameFiles(one, other); err == nil {
		t.Error("got nil for other bytes, want an error")
	}
}
