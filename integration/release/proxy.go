package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// A proxy is a module proxy of files, below a directory of its own.
type proxy struct{ dir string }

// publish puts a module of a repository into the proxy, as the module proxy makes it from a tag.
func (p proxy) publish(ctx context.Context, r repository, version module.Version, revision, subdir string) error {
	dir := filepath.Join(p.dir, "modules", filepath.FromSlash(version.Path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // to be read
		return err
	}
	var archive bytes.Buffer
	if err := zip.CreateFromVCS(&archive, version, r.dir, revision, subdir); err != nil {
		return err
	}
	file, err := r.git(ctx, "show", revision+":"+filepath.ToSlash(filepath.Join(subdir, "go.mod")))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		version.Version + ".zip":  archive.String(),
		version.Version + ".mod":  file + "\n",
		version.Version + ".info": `{"Version":"` + version.Version + `"}`,
		"list":                    version.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // to be read
			return err
		}
	}
	return nil
}

// environment has modules come from the proxy; if it lacks one, from what was downloaded before; and else from where
// this machine has them from. What comes from the proxy is kept in no cache but its own, since a later build of the
// same version has other bytes.
func (p proxy) environment(ctx context.Context) ([]string, error) {
	settings, err := command(ctx, "", nil, "go", "env", "GOMODCACHE", "GOPROXY")
	if err != nil {
		return nil, err
	}
	cache, others, _ := strings.Cut(settings, "\n")
	return []string{
		"GOPROXY=file://" + filepath.ToSlash(p.dir) + "/modules,file://" + filepath.ToSlash(cache) + "/cache/download," + others,
		"GOMODCACHE=" + filepath.Join(p.dir, "cache"),
		"GOSUMDB=off", "GONOSUMDB=*", "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GOTOOLCHAIN=local",
	}, nil
}
