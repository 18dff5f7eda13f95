//go:build linux

package main

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"github.com/gocurator/curator/integration/bench/plan"
	"github.com/gocurator/curator/integration/bench/server"
)

//go:embed java/*.java kazoo/*.py
var sources embed.FS

const curatorJars = "curator-5.9.0"

// What is started of each language: one program takes locks, and another has a cache.
const (
	lockWorker, cacheWorker = "worker", "cache-worker" // words of this program
	lockScript, cacheScript = "bench.py", "cache.py"
)

// programs are the command lines of the workers, by language.
type programs struct {
	lines    map[string][]string
	versions map[string]string
}

// find makes the command line for a client, compiling what has to be.
func (p *programs) find(dir string, impl plan.Impl) error {
	if p.lines == nil {
		p.lines, p.versions = make(map[string][]string), make(map[string]string)
	}
	if p.lines[impl.Language] != nil {
		return nil
	}
	var line []string
	var err error
	switch impl.Language {
	case plan.Java:
		line, err = p.java(dir)
	case plan.Python:
		line, err = p.python(dir)
	default:
		line, err = p.self()
	}
	p.lines[impl.Language] = line
	return err
}

// self is this very program.
func (p *programs) self() ([]string, error) {
	file, err := os.Executable()
	return []string{file, lockWorker}, err
}

func (p *programs) java(dir string) ([]string, error) {
	jars, err := server.Jars(curatorJars, "CURATOR_JAVA_DIR")
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"java", "javac"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, fmt.Errorf("%s: %w", name, server.ErrMissing)
		}
	}
	files, err := unpack(dir, "java")
	if err != nil {
		return nil, err
	}
	classes := filepath.Join(jars, "*")
	if out, err := exec.Command("javac", append([]string{"-cp", classes, "-d", dir}, files...)...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("javac: %w\n%s", err, out)
	}
	version, err := exec.Command("java", "-version").CombinedOutput()
	p.versions["Java"] = strings.TrimSpace(strings.SplitN(string(version), "\n", 2)[0])
	p.versions["Java Curator"] = strings.TrimPrefix(filepath.Base(jars), "curator-")
	return []string{
		"java", "-Xmx512m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", dir + ":" + classes, "Bench",
	}, err
}

func (p *programs) python(dir string) ([]string, error) {
	env, err := server.Cached("kazoo")
	if err != nil {
		return nil, err
	}
	if _, err := unpack(dir, "kazoo"); err != nil {
		return nil, err
	}
	python, source := filepath.Join(env, "bin", "python"), filepath.Join(dir, lockScript)
	version, err := exec.Command(python, "-c",
		"import kazoo.version, platform; print(kazoo.version.__version__, 'on Python', platform.python_version())").Output()
	p.versions["kazoo"] = strings.TrimSpace(string(version))
	return []string{python, source}, err
}

// unpack writes the sources of a language to dir and returns the files.
func unpack(dir, language string) (files []string, err error) {
	entries, err := sources.ReadDir(language)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		text, err := sources.ReadFile(path.Join(language, entry.Name()))
		if err != nil {
			return nil, err
		}
		file := filepath.Join(dir, entry.Name())
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}
