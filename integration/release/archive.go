package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"time"
)

// A file is an entry of an archive. A name that ends in a slash is a directory.
type file struct {
	name string
	mode int64
	data []byte
}

// inOrder sorts files by name, so that an archive does not depend on the order in which they were made.
func inOrder(files []file) []file {
	return slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
}

// writeTar writes files that belong to root and were all changed at one time: the same files give the same bytes.
func writeTar(w io.Writer, files []file, when time.Time) error {
	archive := tar.NewWriter(w)
	for _, f := range inOrder(files) {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: when, Format: tar.FormatUSTAR,
		}
		if strings.HasSuffix(f.name, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		if _, err := archive.Write(f.data); err != nil {
			return err
		}
	}
	return archive.Close()
}

// tarball is a tar.gz. Its gzip header has neither a name nor a time.
func tarball(files []file, when time.Time) ([]byte, error) {
	var plain bytes.Buffer
	if err := writeTar(&plain, files, when); err != nil {
		return nil, err
	}
	return compress(plain.Bytes())
}

func compress(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// zipped is a zip, for Windows.
func zipped(files []file, when time.Time) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range inOrder(files) {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: when}
		w, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}
