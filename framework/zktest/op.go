package zktest

import "strconv"

// Op is the type of a client request, numbered as on the wire.
type Op int32

// The requests that the server knows. All others are answered with
// "unimplemented" and cost the client its connection, as on a real server.
const (
	OpCreate               Op = 1
	OpDelete               Op = 2
	OpExists               Op = 3
	OpGetData              Op = 4
	OpSetData              Op = 5
	OpGetACL               Op = 6
	OpSetACL               Op = 7
	OpGetChildren          Op = 8
	OpSync                 Op = 9
	OpPing                 Op = 11
	OpGetChildren2         Op = 12
	OpCheck                Op = 13
	OpMulti                Op = 14
	OpCreate2              Op = 15
	OpReconfig             Op = 16
	OpCheckWatches         Op = 17
	OpRemoveWatches        Op = 18
	OpCreateContainer      Op = 19
	OpDeleteContainer      Op = 20
	OpCreateTTL            Op = 21
	OpMultiRead            Op = 22
	OpSetAuth              Op = 100
	OpSetWatches           Op = 101
	OpSASL                 Op = 102
	OpGetEphemerals        Op = 103
	OpGetAllChildrenNumber Op = 104
	OpSetWatches2          Op = 105
	OpAddWatch             Op = 106
	OpWhoAmI               Op = 107
	OpCloseSession         Op = -11
)

var opNames = map[Op]string{
	OpCreate: "create", OpDelete: "delete", OpExists: "exists", OpGetData: "getData", OpSetData: "setData",
	OpGetACL: "getACL", OpSetACL: "setACL", OpGetChildren: "getChildren", OpSync: "sync", OpPing: "ping",
	OpGetChildren2: "getChildren2", OpCheck: "check", OpMulti: "multi", OpCreate2: "create2",
	OpReconfig: "reconfig", OpCheckWatches: "checkWatches", OpRemoveWatches: "removeWatches",
	OpCreateContainer: "createContainer", OpDeleteContainer: "deleteContainer", OpCreateTTL: "createTTL", OpMultiRead: "multiRead",
	OpSetAuth: "setAuth", OpSetWatches: "setWatches", OpSASL: "sasl", OpGetEphemerals: "getEphemerals",
	OpGetAllChildrenNumber: "getAllChildrenNumber", OpSetWatches2: "setWatches2", OpAddWatch: "addWatch",
	OpWhoAmI: "whoAmI", OpCloseSession: "closeSession",
}

// String returns ZooKeeper's name of the request, such as "getChildren2".
func (op Op) String() string {
	if name, ok := opNames[op]; ok {
		return name
	}
	return "op(" + strconv.Itoa(int(op)) + ")"
}

// ParseOp returns the request that String calls so; false if there is none.
func ParseOp(name string) (Op, bool) {
	for op, n := range opNames {
		if n == name {
			return op, true
		}
	}
	return 0, false
}

// hasPath reports whether the body of op begins with a path.
func (op Op) hasPath() bool {
	switch op {
	case OpPing, OpMulti, OpMultiRead, OpSetAuth, OpSetWatches, OpSetWatches2, OpSASL, OpWhoAmI, OpCloseSession, OpReconfig:
		return false
	}
	_, known := opNames[op]
	return known
}

// code is an error code of the protocol; 0 is success.
type code int32

const (
	codeRuntimeInconsistency code = -2
	codeMarshalling          code = -5
	codeUnimplemented        code = -6
	codeBadArguments         code = -8
	codeNoNode               code = -101
	codeNoAuth               code = -102
	codeBadVersion           code = -103
	codeEphemeralParent      code = -108
	codeNodeExists           code = -110
	codeNotEmpty             code = -111
	codeSessionExpired       code = -112
	codeInvalidACL           code = -114
	codeAuthFailed           code = -115
	codeSessionMoved         code = -118
	codeNotReadOnly          code = -119
	codeNoWatcher            code = -121
	codeReconfigDisabled     code = -123
	codeSASLRequired         code = -124
	codeQuotaExceeded        code = -125
	codeThrottled            code = -127
)

var codeTexts = map[code]string{
	codeRuntimeInconsistency: "runtime inconsistency", codeMarshalling: "marshalling error",
	codeUnimplemented: "unimplemented", codeBadArguments: "bad arguments", codeNoNode: "no node",
	codeNoAuth: "not authorized", codeBadVersion: "bad version",
	codeEphemeralParent: "no children for ephemerals", codeNodeExists: "node exists",
	codeNotEmpty: "directory not empty", codeSessionExpired: "session expired",
	codeInvalidACL: "invalid ACL", codeAuthFailed: "authentication failed",
	codeSessionMoved: "session moved", codeNotReadOnly: "not a read-only call",
	codeNoWatcher: "no such watcher", codeReconfigDisabled: "reconfig disabled", codeSASLRequired: "SASL required",
	codeQuotaExceeded: "quota exceeded", codeThrottled: "throttled",
}

// Error names the code, so that an administrator's call can return it.
func (e code) Error() string { return "zktest: " + e.text() }

func (e code) text() string {
	if text, ok := codeTexts[e]; ok {
		return text
	}
	return "error " + strconv.Itoa(int(e))
}
