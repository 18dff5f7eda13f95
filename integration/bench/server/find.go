package server

import (
	"fmt"
	"os"
	"path/filepath"
)

// Cached finds what integration/run has fetched, such as the directory of a library's jars: below integration/.cache of
// the checkout that the benchmark is run in.
func Cached(name string) (string, error) {
	found, err := above(filepath.Join("integration", ".cache", name))
	if err != nil {
		return "", fmt.Errorf("no %s in integration/.cache, where integration/run puts it: %w", name, err)
	}
	return found, nil
}

// above finds a file in the working directory or one of those above it.
func above(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		found := filepath.Join(dir, name)
		if _, err := os.Stat(found); err == nil {
			return found, nil
		}
		if dir == filepath.Dir(dir) {
			return "", ErrMissing
		}
	}
}

// Jars finds a directory of jars: the one that an environment variable names, or else a cached one.
func Jars(name, variable string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		return dir, nil
	}
	return Cached(name)
}
