package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// stampPatience is how old the newest change of a file must be. A younger one could be followed by another at the same
// time, as file systems have it.
const stampPatience = 2 * time.Second

// stampOf returns the names, sizes and times of the logs and snapshots of servers: while it is the same, they are the
// same. It is empty if that is not sure. It blocks as the directories do.
func stampOf(dirs []string, now time.Time) string {
	var out strings.Builder
	for _, dir := range dirs {
		for _, at := range []string{dir, filepath.Join(dir, "version-2")} {
			entries, err := os.ReadDir(at)
			if err != nil && !os.IsNotExist(err) {
				return ""
			}
			for _, e := range entries {
				if kind, _, _ := strings.Cut(e.Name(), "."); kind != "log" && kind != "snapshot" {
					continue
				}
				info, err := os.Stat(filepath.Join(at, e.Name()))
				if err != nil || now.Sub(info.ModTime()) < stampPatience {
					return ""
				}
				fmt.Fprintf(&out, "%q %d %d\n", filepath.Join(at, e.Name()), info.Size(), info.ModTime().UnixNano())
			}
		}
	}
	return out.String()
}
