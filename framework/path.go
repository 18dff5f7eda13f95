package framework

import (
	"strings"

	"github.com/gocurator/curator/framework/session"
)

// AbsolutePath returns the path as the server knows it: chroot and namespace in front. Recipes work with absolute
// paths, since several facades of a client may handle a node.
//
// Errors: [ErrInvalidPath].
func (c *Client) AbsolutePath(path string) (string, error) {
	if c.err != nil {
		return "", c.err
	}
	if err := session.ValidatePath(path); err != nil {
		return "", err
	}
	if path == "/" && c.prefix != "" {
		return c.prefix, nil
	}
	return c.prefix + path, nil
}

// RelativePath undoes [Client.AbsolutePath], of paths within the namespace.
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
