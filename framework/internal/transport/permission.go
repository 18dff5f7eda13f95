package transport

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

// A NoAuthError says which permission the servers miss. It is a zk.ErrNoAuth.
type NoAuthError struct {
	Op         string // what was refused: "create", "delete", …
	Path       string // of its node
	Permission string // the one that is missing: "CREATE", "DELETE", "READ", "WRITE" or "ADMIN"
	Node       string // the node in whose ACL it is missing: the parent of a node that is created or deleted
}

func (e *NoAuthError) Error() string {
	return fmt.Sprintf("no permission to %s %s: the ACL of %s does not give this client %s", e.Op, e.Path, e.Node, e.Permission)
}

// Unwrap makes every NoAuthError a zk.ErrNoAuth.
func (e *NoAuthError) Unwrap() error { return zk.ErrNoAuth }

// noAuth describes the refusal of a request. Requests without a path are refused without a reason.
func noAuth(op int32, body encoder) error {
	path := string(pathOf(body))
	e := &NoAuthError{Path: path, Node: path}
	switch op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		e.Op, e.Permission, e.Node = "create", "CREATE", parentOf(path)
	case opDelete:
		e.Op, e.Permission, e.Node = "delete", "DELETE", parentOf(path)
	case opSetData:
		e.Op, e.Permission = "set the data of", "WRITE"
	case opSetACL:
		e.Op, e.Permission = "set the ACL of", "ADMIN"
	case opGetACL:
		e.Op, e.Permission = "read the ACL of", "READ"
	case opGetChildren2:
		e.Op, e.Permission = "list the children of", "READ"
	case opGetData, opExists:
		e.Op, e.Permission = "read", "READ"
	case opCheck:
		e.Op, e.Permission = "check the version of", "READ"
	default:
		return zk.ErrNoAuth
	}
	return e
}

func parentOf(path string) string {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '/' {
			return path[:i]
		}
	}
	return "/"
}
