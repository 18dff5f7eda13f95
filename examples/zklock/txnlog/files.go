package txnlog

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A logFile is a log or a snapshot, and the zxid in its name: of the first transaction of a log, of the last one before
// a snapshot.
type logFile struct {
	name  string
	first int64
}

// serverFiles are the files of one server, by zxid.
type serverFiles struct {
	dir       string
	logs      []logFile
	snapshots []logFile
	// compressed are logs as well, which are not read.
	compressed []string
	// member is the number of the server in its ensemble, as its file "myid" has it; empty if that is not there.
	member string
	// voter is the same for directories of one server, and for those that may be copies of one.
	voter int
	// joined is the first zxid of another directory that may be of the same server; 0 if there is none.
	joined int64
}

// findFiles lists a directory that a server calls version-2, or the one above it. A directory that is not there has no
// files.
func findFiles(dir string) (serverFiles, error) {
	if below := filepath.Join(dir, versionDir); isDir(below) {
		dir = below
	}
	found := serverFiles{dir: dir, member: memberOf(dir)}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return found, fmt.Errorf("txnlog: find the logs in %s: %w", dir, err)
	}
	for _, entry := range entries {
		kind, number, _ := strings.Cut(entry.Name(), ".")
		hex, compressed, _ := strings.Cut(number, ".")
		zxid, err := strconv.ParseUint(hex, 16, 64)
		if err != nil {
			continue
		}
		file := logFile{filepath.Join(dir, entry.Name()), int64(zxid)}
		switch {
		case kind == "log" && compressed == "":
			found.logs = append(found.logs, file)
		case kind == "log":
			found.compressed = append(found.compressed, file.name)
		case kind == "snapshot":
			found.snapshots = append(found.snapshots, file)
		}
	}
	byFirst := func(a, b logFile) int { return cmp.Compare(a.first, b.first) }
	slices.SortFunc(found.logs, byFirst)
	slices.SortFunc(found.snapshots, byFirst)
	return found, nil
}

// versionDir is what servers call the directory of their files. Beside it stands "myid".
const versionDir = "version-2"

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// findAll lists the files of several servers.
func findAll(dirs []string) ([]serverFiles, error) {
	servers := make([]serverFiles, len(dirs))
	for i, dir := range dirs {
		var err error
		if servers[i], err = findFiles(dir); err != nil {
			return nil, err
		}
		servers[i].voter = i
	}
	return servers, nil
}

// openRegular opens a file. A pipe would wait for its other end.
func openRegular(name string) (*os.File, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", info.Mode().Type())
	}
	return os.Open(name)
}
