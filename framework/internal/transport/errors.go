package transport

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"
)

var (
	// ErrBroken is the outcome of a call whose connection broke before its answer came: the server may or may not have
	// executed it.
	ErrBroken = errors.New("connection lost")
	// ErrAuth says that the servers refuse this client's authentication. It is final.
	ErrAuth = errors.New("authentication refused by the server")
	// ErrUnsupported is the server's answer to an operation that it does not know: it is older than 3.5, or the feature is
	// switched off.
	ErrUnsupported = errors.New("operation not supported by the server (ZooKeeper 3.5 or later is needed)")

	errClosing    = errors.New("transport closed")
	errSecondLife = errors.New("the session is over; a new one needs a new connection")
)

// A Code is an error code of the server that go-zookeeper has no name for.
type Code int32

func (c Code) Error() string { return fmt.Sprintf("zookeeper error code %d", int32(c)) }

// Passing reports whether the server may well answer otherwise in a moment: it timed out or is overloaded.
func (c Code) Passing() bool { return c == -7 || c == -122 || c == ErrThrottled }

// ErrThrottled is the answer of an overloaded server to a request that it did not look at.
const ErrThrottled Code = -127

// Codes that this package must tell apart.
const (
	codeUnimplemented    = -6
	codeSaslRequired     = -124
	codeAuthFailed       = -115
	codeFirstTransaction = -111 // codes from here to codeLastTransaction are decided by the leader, in order
	codeLastTransaction  = -101
)

var codes = map[int32]error{
	-4:   zk.ErrConnectionClosed,
	-6:   ErrUnsupported,
	-8:   zk.ErrBadArguments,
	-101: zk.ErrNoNode,
	-102: zk.ErrNoAuth,
	-103: zk.ErrBadVersion,
	-108: zk.ErrNoChildrenForEphemerals,
	-110: zk.ErrNodeExists,
	-111: zk.ErrNotEmpty,
	-112: zk.ErrSessionExpired,
	-114: zk.ErrInvalidACL,
	-115: zk.ErrAuthFailed,
	-118: zk.ErrSessionMoved,
}

// toError turns the code of an answer into an error that callers compare with go-zookeeper's.
func toError(code int32) error {
	if code == 0 {
		return nil
	}
	if err, ok := codes[code]; ok {
		return err
	}
	return Code(code)
}
