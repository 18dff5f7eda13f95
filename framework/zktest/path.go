package zktest

import (
	"strings"
)

// validPath follows the Java server, which looks at UTF-16 units: it refuses
// surrogates, and so everything outside the basic plane. Invalid UTF-8 reads as
// U+FFFD in both languages and is refused too.
func validPath(path string) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	if path == "/" {
		return true
	}
	if path[len(path)-1] == '/' {
		return false
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	for _, r := range path {
		if badRune(r) {
			return false
		}
	}
	return true
}

func badRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// split returns the parent's path and the last component. The parent of
// "/a" is "/".
func split(path string) (parent, name string) {
	i := strings.LastIndexByte(path, '/')
	if i <= 0 {
		return "/", path[i+1:]
	}
	return path[:i], path[i+1:]
}

// reserved paths belong to the server and cannot be deleted.
func reserved(path string) bool {
	return path == "/" || path == "/zookeeper" || path == "/zookeeper/quota" || path == "/zookeeper/config"
}

func join(parent, name string) string { return strings.TrimSuffix(parent, "/") + "/" + name }
