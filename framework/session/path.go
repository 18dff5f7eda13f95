package session

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidatePath reports, as an [ErrInvalidPath], why ZooKeeper would refuse a path: it must begin with a slash and,
// except "/", not end with one, and have no empty, "." or ".." part, and no forbidden character, such as NUL, control
// and private-use ones.
//
// Curator: PathUtils.validatePath().
func ValidatePath(path string) error {
	if problem := pathProblem(path); problem != "" {
		return fmt.Errorf("%w %q: %s", ErrInvalidPath, path, problem)
	}
	return nil
}

func pathProblem(path string) string {
	switch {
	case path == "":
		return "empty"
	case path[0] != '/':
		return "must begin with /"
	case path == "/":
		return ""
	case strings.HasSuffix(path, "/"):
		return "must not end with /"
	case !utf8.ValidString(path):
		return "not UTF-8"
	}
	for part := range strings.SplitSeq(path[1:], "/") {
		switch part {
		case "":
			return "has an empty part"
		case ".", "..":
			return "relative parts are not allowed"
		}
	}
	for _, r := range path {
		if forbidden(r) {
			return fmt.Sprintf("character %U is not allowed", r)
		}
	}
	return ""
}

// forbidden is PathUtils' list. Java has characters beyond 16 bits as two surrogates, which stand on it.
func forbidden(r rune) bool {
	return r <= 0x1f || 0x7f <= r && r <= 0x9f || 0xd800 <= r && r <= 0xf8ff || 0xfff0 <= r
}
