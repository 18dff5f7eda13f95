package session

import "github.com/go-zookeeper/zk"

// A ChildObserver hears what its session learns of a directory's children, in the order of arrival: on the goroutine
// that reads the connection, before any other can see it. Its methods must not block. It hears nothing of what happens
// while the session is not connected.
type ChildObserver interface {
	// Listed reports a listing, with the directory's Stat. children is the observer's own.
	Listed(children []string, dir *zk.Stat)
	// Created reports a node of [Nodes.CreateProtected] or [Nodes.CreateProtectedWithoutListing].
	Created(name string)
	// Gone reports a child that was deleted, or found missing.
	Gone(name string)
	// Behind says that the session may go on at a server that is behind the reports so far, and may miss a child that
	// is yet to come there.
	Behind()
}

// A TreeObserver hears what changes at and below a node. The goroutine that reads the connection calls its methods, one
// at a time, and they must not block. Refused may come from another goroutine.
type TreeObserver interface {
	// Watching says that the server has set the watch, after every reconnection again. Nothing reports earlier changes,
	// so the observer must read everything again, by reads sent from now on.
	Watching()
	// Changed says that a node was created or deleted, or its data set. Servers since 3.8.4 say nothing of nodes that
	// the client may not read.
	Changed(kind zk.EventType, path string)
	// Lost says that the connection is lost, and the watch with it: nothing reports what happens until Watching is
	// called again. It comes in the order of the events, and only after Watching.
	Lost()
	// Refused is the last call: the server, or the one that the session has moved to, does not know such watches
	// ([ErrUnsupported]), or closes connections on them.
	Refused(err error)
}
