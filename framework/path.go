package framework

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// ValidatePath reports, as an [ErrInvalidPath], why ZooKeeper would refuse a path: it must begin with a slash and not
// end with one (but for "/" itself), and have no empty, "." or ".." part, no NUL and no control, private-use or other
// characters that ZooKeeper forbids.
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

// forbidden is PathUtils' list of characters. A Java string has characters above the 16-bit plane as two surrogates,
// which stand on the list.
func forbidden(r rune) bool {
	return r <= 0x1f || 0x7f <= r && r <= 0x9f || 0xd800 <= r && r <= 0xf8ff || 0xfff0 <= r
}

// AbsolutePath returns the path as the server knows it: with the chroot of the connect string and the namespace in
// front. Recipes work with absolute paths, since a node may be handled by several facades of one client.
//
// Errors: [ErrInvalidPath].
func (c *Client) AbsolutePath(path string) (string, error) {
	if c.err != nil {
		return "", c.err
	}
	if err := ValidatePath(path); err != nil {
		return "", err
	}
	if path == "/" && c.prefix != "" {
		return c.prefix, nil
	}
	return c.prefix + path, nil
}

// RelativePath undoes [Client.AbsolutePath]. A path outside the namespace is returned as it is.
func (c *Client) RelativePath(absolute string) string {
	switch rest, found := strings.CutPrefix(absolute, c.prefix); {
	case !found:
		return absolute
	case rest == "":
		return "/"
	case rest[0] != '/': // "/ab" is not below "/a"
		return absolute
	default:
		return rest
	}
}
