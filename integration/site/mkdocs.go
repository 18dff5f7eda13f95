package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const requirements = "integration/site/requirements.txt"

// mkdocs returns a Python that has MkDocs. It lies in integration/.cache, and is complete when a copy of the list of
// packages lies in it.
func mkdocs(ctx context.Context, repository string) (python string, err error) {
	dir, err := filepath.Abs(filepath.Join(repository, "integration", ".cache", "mkdocs"))
	if err != nil {
		return "", err
	}
	python = filepath.Join(dir, "bin", "python")
	list, err := os.ReadFile(filepath.Join(repository, requirements))
	if err != nil {
		return "", err
	}
	complete := filepath.Join(dir, "complete")
	if have, err := os.ReadFile(complete); err == nil && bytes.Equal(have, list) { //nolint:gosec // our own
		return python, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	if err := command(ctx, repository, nil, "python3", "-m", "venv", dir); err != nil {
		return "", fmt.Errorf("MkDocs needs Python 3 with venv (Debian: python3-venv): %w", err)
	}
	err = command(ctx, repository, nil, python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement", requirements)
	if err != nil {
		return "", fmt.Errorf("MkDocs cannot be fetched; is there a package index that pip reaches? %w", err)
	}
	return python, os.WriteFile(complete, list, 0o600)
}

// command runs a program, which has nothing to say unless it fails.
func command(ctx context.Context, dir string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, bytes.TrimSpace(out))
	}
	return nil
}
