package main

import (
	"bytes"
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

// A target is a system and its processor, as Go names them.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

// targets are what a release has programs for.
var targets = []target{
	{"darwin", "amd64"}, {"darwin", "arm64"}, {"linux", "amd64"}, {"linux", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// parseTargets reads a list such as linux/amd64,windows/arm64. An empty one is all.
func parseTargets(list string) (chosen []target, err error) {
	for _, t := range targets {
		if list == "" || strings.Contains(","+list+",", ","+t.String()+",") {
			chosen = append(chosen, t)
		}
	}
	if list != "" && len(chosen) != strings.Count(list, ",")+1 {
		return nil, fmt.Errorf("%s: want some of %v, separated by commas", list, targets)
	}
	return chosen, nil
}

// artefacts are what a release offers to download.
type artefacts struct {
	release

	tree    repository // a clone at the commit
	commit  string
	when    time.Time // when it was made
	version string    // what Go has stamped the programs with
	files   []file
}

// build makes the programs of a tag or another commit for some targets, with all that belongs to them, in a directory
// that is empty or not there. The same commit and the same Go make the same bytes.
func (r release) build(ctx context.Context, to string, chosen []target) error {
	if runtime.GOOS != "linux" {
		return errors.New("-build needs Linux: it runs zklock, so as to have its man page")
	}
	if entries, err := os.ReadDir(to); err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: its checksums would not cover everything", to)
	}
	parent, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(parent) //nolint:errcheck // a temporary directory
	a := artefacts{release: r, tree: repository{filepath.Join(parent, "tree")}}
	if err := a.checkOut(ctx); err != nil {
		return err
	}
	page := []string{"run", "-C", "examples", "./playground", "-build", "testserver/playground"}
	env := []string{"GOFLAGS=", "GOWORK=off", "GOOS=" + runtime.GOOS, "GOARCH=" + runtime.GOARCH}
	if _, err := command(ctx, a.tree.dir, env, "go", page...); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := a.program(ctx, name, chosen); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return a.write(to)
}

// checkOut clones the commit, so that neither changes nor ignored files of the working tree get into programs. Go takes
// the version of a program from the tags of its own module, which come after the library's and are of other commits, so
// the clone gets tags for a release.
func (a *artefacts) checkOut(ctx context.Context) (err error) {
	if a.commit, err = a.git(ctx, "rev-parse", "--verify", a.release.version+"^{commit}"); err != nil {
		return err
	}
	from, err := filepath.Abs(a.dir)
	if err != nil {
		return err
	}
	if _, err := command(ctx, "", nil, "git", "clone", "--quiet", "--no-checkout", from, a.tree.dir); err != nil {
		return err
	}
	if _, err := a.tree.git(ctx, "-c", "advice.detachedHead=false", "checkout", "--quiet", a.commit); err != nil {
		return err
	}
	if semver.IsValid(a.release.version) {
		for _, s := range sources {
			if _, err := a.tree.git(ctx, "tag", "--force", s.module+"/"+a.release.version, a.commit); err != nil {
				return err
			}
		}
	}
	text, err := a.tree.git(ctx, "show", "--no-patch", "--format=%ct", "HEAD")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	a.when = time.Unix(seconds, 0).UTC()
	return err
}

// sources are where the programs of a release are: a module, and the arguments of go build there.
var sources = map[string]struct {
	module string
	args   []string
}{
	"testserver": {"examples", []string{"-tags=playground", "./testserver"}},
	"zklock":     {"examples/zklock", []string{"."}},
}

// compile makes one static program.
func (a *artefacts) compile(ctx context.Context, name string, t target) (program []byte, err error) {
	out := filepath.Join(filepath.Dir(a.tree.dir), name)
	env := []string{
		"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOWORK=off", "GOEXPERIMENT=",
	}
	s := sources[name]
	args := append([]string{"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", out}, s.args...)
	if _, err := command(ctx, filepath.Join(a.tree.dir, s.module), env, "go", args...); err != nil {
		return nil, err
	}
	return os.ReadFile(out) //nolint:gosec // just written
}

// program adds a program: for each target an archive and a list of what it was made from; and an image.
func (a *artefacts) program(ctx context.Context, name string, chosen []target) error {
	with, licence, err := a.companions(ctx, name)
	if err != nil {
		return err
	}
	linux := map[target][]byte{}
	for _, t := range chosen {
		program, err := a.compile(ctx, name, t)
		if err != nil {
			return err
		}
		if err := a.addArchive(name, t, program, append(with[t.os == "windows"], file{"LICENSE", 0o644, licence})); err != nil {
			return err
		}
		if t.os == "linux" {
			linux[t] = program
		}
	}
	if len(linux) == 0 {
		return nil
	}
	data, err := image{a.imageOf(name), a.when, licence, name, a.version, linux}.archive()
	a.files = append(a.files, file{name + "_" + a.version + "_image.tar", 0o644, data})
	return err
}

func (a *artefacts) addArchive(name string, t target, program []byte, with []file) error {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	if semver.IsValid(a.release.version) && info.Main.Version != a.release.version {
		return fmt.Errorf("built as %s, want %s", info.Main.Version, a.release.version)
	}
	a.version = info.Main.Version
	if got, err := systemOf(program); err != nil || got != t {
		return fmt.Errorf("built for %v (%w), want %v", got, err, t)
	}
	base := fmt.Sprintf("%s_%s_%s_%s", name, a.version, t.os, t.arch)
	bill, err := billOfMaterials(name, program, info, a.when)
	if err != nil {
		return err
	}
	pack, end, suffix := tarball, ".tar.gz", ""
	if t.os == "windows" {
		pack, end, suffix = zipped, ".zip", ".exe"
	}
	all := []file{{base + "/" + name + suffix, 0o755, program}}
	for _, f := range with {
		all = append(all, file{base + "/" + f.name, f.mode, f.data})
	}
	data, err := pack(all, a.when)
	a.files = append(a.files, file{base + end, 0o644, data}, file{base + ".cdx.json", 0o644, bill})
	return err
}

func (a *artefacts) imageOf(name string) runtimeConfig {
	c := runtimeConfig{
		User: user + ":" + user, Env: []string{"PATH=/"}, Entrypoint: []string{"/" + name}, Cmd: []string{"help"}, WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title": name, "org.opencontainers.image.version": a.version,
			"org.opencontainers.image.revision": a.commit, "org.opencontainers.image.created": a.when.Format(time.RFC3339),
			"org.opencontainers.image.source": "https://" + library, "org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	if name == "testserver" {
		c.Cmd, c.ExposedPorts = []string{"-listen", "0.0.0.0:2181"}, map[string]struct{}{"2181/tcp": {}}
	}
	return c
}

// write writes everything, and the checksums of it.
func (a *artefacts) write(to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil { //nolint:gosec // to be read
		return err
	}
	var sums strings.Builder
	for _, f := range inOrder(a.files) {
		fmt.Fprintf(&sums, "%s  %s\n", digest(f.data), f.name)
	}
	for _, f := range append(a.files, file{"SHA256SUMS", 0o644, []byte(sums.String())}) {
		if err := os.WriteFile(filepath.Join(to, f.name), f.data, os.FileMode(cmp.Or(f.mode, 0o644))); err != nil {
			return err
		}
		a.say("%s", filepath.Join(to, f.name))
	}
	return nil
}
