package programs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

var compiling sync.Mutex

// Javac compiles all sources in java/ against the jars in a directory, and returns the directory of the classes. That
// lies beside the jars' and stays, so the same sources are compiled once. It needs javac.
func Javac(jars string, sources fs.FS) (classes string, err error) {
	compiling.Lock()
	defer compiling.Unlock()
	files, err := fs.Glob(sources, "java/*.java")
	if err != nil {
		return "", err
	}
	source, texts := sha256.New(), map[string][]byte{}
	for _, file := range files {
		if texts[file], err = fs.ReadFile(sources, file); err != nil {
			return "", err
		}
		_, _ = source.Write(texts[file]) // a hash takes everything
	}
	classes = fmt.Sprintf("%s-classes-%.5x", jars, source.Sum(nil))
	if _, err := os.Stat(classes); err == nil {
		return classes, nil
	}
	part, err := os.MkdirTemp(filepath.Dir(jars), "classes-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(part) }() // gone if all went well
	if err := os.Mkdir(filepath.Join(part, "java"), 0o700); err != nil {
		return "", err
	}
	// Jars refer to classes that they lack, of which -Xlint:classfile warns.
	args := []string{"-Xlint:all,-classfile", "-Werror", "-cp", jars + "/*", "-d", part}
	for _, file := range files {
		name := filepath.Join(part, filepath.FromSlash(file))
		if err := os.WriteFile(name, texts[file], 0o600); err != nil {
			return "", err
		}
		args = append(args, name)
	}
	if out, err := exec.Command("javac", args...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("javac: %w\n%s", err, out)
	}
	if err := os.Rename(part, classes); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return classes, nil
}
