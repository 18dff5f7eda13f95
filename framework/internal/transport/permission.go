package transport

import (
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// noAuth describes the refusal of a request. Requests without a path are refused without a reason.
func noAuth(op int32, body encoder) error {
	node := string(pathOf(body))
	e := &session.NoAuthError{Path: node, Node: node}
	switch op {
	case opCreate, opCreate2, opCreateContainer, opCreateTTL:
		e.Op, e.Permission, e.Node = "create", "CREATE", path.Dir(node)
	case opDelete:
		e.Op, e.Permission, e.Node = "delete", "DELETE", path.Dir(node)
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
