package session

import (
	"strings"
)

// parent returns the path above an absolute path.
func parent(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}

// join puts a name, or a path, under a directory.
func join(dir, name string) string {
	name = strings.TrimPrefix(name, "/")
	switch {
	case name == "" && dir == "":
		return "/"
	case name == "":
		return dir
	case dir == "/":
		return "/" + name
	default:
		return dir + "/" + name
	}
}
