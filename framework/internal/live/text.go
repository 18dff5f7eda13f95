package live

import "strings"

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

// split takes no root.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i == 0 {
		return "/", path[1:]
	}
	return path[:i], path[i+1:]
}
