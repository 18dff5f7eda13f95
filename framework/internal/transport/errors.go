package transport

import (
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/session"
)

// What users know by the names of package session.
var (
	// ErrBroken is the outcome of a call whose connection broke before its answer came: the server may or may not have
	// executed it.
	ErrBroken = session.ErrConnectionLost
	// ErrAuth says that the servers refuse this client's authentication. It is final.
	ErrAuth = session.ErrAuthRefused
	// ErrUnsupported is the server's answer to an operation that it does not know: it is older than 3.5, or the feature
	// is switched off.
	ErrUnsupported = session.ErrUnsupported
	// ErrTooLarge says that a request or an answer is longer than this client sends or takes.
	ErrTooLarge = session.ErrTooLarge
)

var (
	// errUnproven is the refusal of a client that has not authenticated as it must. The server does not say how.
	errUnproven   = fmt.Errorf("%w: it requires WithSASL, or a WithAuthorization of one of its enforce.auth.schemes", ErrAuth)
	errClosing    = errors.New("transport closed")
	errNoAddress  = errors.New("no server is known by any address")
	errNoSession  = errors.New("the server opened no session")
	errSecondLife = errors.New("the session is over; a new one needs a new connection")
)

// A Code is an error code of the server that go-zookeeper has no error for.
type Code int32

func (c Code) Error() string {
	if name, ok := codeNames[c]; ok {
		return fmt.Sprintf("zookeeper error %d, %s", int32(c), name)
	}
	return fmt.Sprintf("zookeeper error %d, which this client has no name for", int32(c))
}

// codeNames are the names of org.apache.zookeeper.KeeperException.Code.
var codeNames = map[Code]string{
	-1:   "SYSTEMERROR",
	-2:   "RUNTIMEINCONSISTENCY",
	-3:   "DATAINCONSISTENCY",
	-4:   "CONNECTIONLOSS",
	-5:   "MARSHALLINGERROR",
	-6:   "UNIMPLEMENTED",
	-7:   "OPERATIONTIMEOUT: the server was too slow",
	-8:   "BADARGUMENTS",
	-12:  "UNKNOWNSESSION",
	-13:  "NEWCONFIGNOQUORUM",
	-14:  "RECONFIGINPROGRESS",
	-100: "APIERROR",
	-101: "NONODE",
	-102: "NOAUTH",
	-103: "BADVERSION",
	-108: "NOCHILDRENFOREPHEMERALS",
	-110: "NODEEXISTS",
	-111: "NOTEMPTY",
	-112: "SESSIONEXPIRED",
	-113: "INVALIDCALLBACK",
	-114: "INVALIDACL",
	-115: "AUTHFAILED",
	-118: "SESSIONMOVED",
	-119: "NOTREADONLY: the server takes reads only",
	-120: "EPHEMERALONLOCALSESSION",
	-121: "NOWATCHER",
	-122: "REQUESTTIMEOUT: the servers were too slow",
	-123: "RECONFIGDISABLED",
	-124: "SESSIONCLOSEDREQUIRESASLAUTH",
	-125: "QUOTAEXCEEDED",
	-127: "THROTTLEDOP: the server is overloaded and did not execute the request",
}

// Passing reports whether the server may well answer otherwise in a moment: it timed out or is overloaded.
func (c Code) Passing() bool { return c == -7 || c == -122 || c == ErrThrottled }

// ErrMarshalling is the answer to a request with a field of an unknown value.
const ErrMarshalling Code = -5

// ErrThrottled is the answer of an overloaded server to a request that it did not look at.
const ErrThrottled Code = -127

// Codes that this package must distinguish.
const (
	codeUnimplemented    = -6
	codeSaslRequired     = -124
	codeAuthFailed       = -115
	codeNoAuth           = -102
	codeSessionExpired   = -112
	codeSessionMoved     = -118
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
