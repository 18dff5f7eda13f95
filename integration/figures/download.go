package main

import (
	"io"
	"io/fs"

	modules "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// download returns the size of the zip file that the module proxy serves for the top-level module, and the number of
// files in it. The files of nested modules are not part of it.
func (c *code) download() (bytes, files int, err error) {
	all := make([]zip.File, len(c.names))
	for i, name := range c.names {
		all[i] = zipped{c.files, name}
	}
	checked, err := zip.CheckFiles(all)
	if err != nil {
		return 0, 0, err
	}
	var size counter
	err = zip.Create(&size, modules.Version{Path: c.path, Version: "v0.0.0"}, all)
	return int(size), len(checked.Valid), err
}

// zipped is a file as package zip reads it.
type zipped struct {
	files fs.FS
	name  string
}

func (z zipped) Path() string                 { return z.name }
func (z zipped) Lstat() (fs.FileInfo, error)  { return fs.Lstat(z.files, z.name) }
func (z zipped) Open() (io.ReadCloser, error) { return z.files.Open(z.name) }

// A counter counts what is written to it.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
