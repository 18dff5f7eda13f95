// Package zktest is a ZooKeeper server in memory, for tests and demos, in the
// manner of net/http/httptest. It speaks the real wire protocol, so that every
// client can use it: over in-memory connections (Server.Dial), which work
// inside a testing/synctest bubble, or over loopback TCP (Server.Addr).
//
// It keeps nothing on disk and is no place for data that anybody wants back.
package zktest
