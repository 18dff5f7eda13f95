//go:build linux

// Package godriver is the Go side of the interop tests: a process that obeys orders, with this library's locks and with
// go-zookeeper's zk.Lock. The test binary runs it when it is started again by the tests.
//
// The same protocol is spoken by the drivers for Java Curator and for kazoo: one [Order] a line on stdin, one [Answer]
// to each on stdout, and Answers without an id for what happens by itself.
package godriver

import (
	"encoding/json"
	"io"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// An Order says what a driver is to do. Contenders obey one order after the other, and do not wait for each other.
//
//	open       Client is connected, and named
//	close      it is closed
//	revoke     through Client, the holder of Node is asked to leave
//	write      through Client, Node is made with its parents or gets Data; without Data, it goes with all below it
//	contender  Who is born: a thread, or what stands for it, with a lock of its own
//	acquire    Who acquires; a second time, that is a re-entry; a cache starts
//	release    Who releases once; a cache is closed
//	report     what Who knows of its lock without asking, and who stands in the queue; all nodes of a cache
//	value      the limit of Who's semaphore
//	setvalue   sets it, for everybody
//	work       Who acquires and releases Times times, and reports each by events
//	crash      the process ends at once
//
// This library's driver explains losses.
//
//	explain    why Who lost its lock, its term or its registration, once it has: the answer comes then
//	spin       the process keeps itself from running for MS; also stall, and crowd, with N goroutines: see halt
//
// Java's driver has contenders of other recipes, too, and kazoo's has numbers. What is started is acquired, and what is
// closed is released.
//
//	report     all instances of a service cache or a service provider
//	setdata    Who's persistent node gets Data
//	value      Who's number
//	setvalue   sets it; also compareandset, from Old; initialize; and add, by Value
//	work       Who increments a number Times times, and answers with all values
//	register   Who's service discovery registers Service; also update and unregister
//	names      all names of services
//	instances  all instances of the service Node
//	instance   one that a service provider chooses
type Order struct {
	ID     int64  `json:"id"`
	Op     string `json:"op"`
	Client string `json:"client,omitempty"`
	Who    string `json:"who,omitempty"`

	Connect string `json:"connect,omitempty"` // open
	Session int    `json:"session,omitempty"` // open: the session's timeout in ms
	Retries int    `json:"retries,omitempty"` // open: how often an operation is tried again, 100 ms apart; 40 if zero

	Journal string `json:"journal,omitempty"` // open, of this library: the file that gets the client's journal

	// Data is what nodes contain. With open, where contenders do not say otherwise.
	Data *string `json:"data,omitempty"`
	// contender: mutex, retained, rw, semaphore, semaphoremutex, multi, selector, latch, zklock, curatorcache,
	// treecache, persistentnode, atomiclong, atomicinteger, discovery, servicecache, serviceprovider
	Recipe    string   `json:"recipe,omitempty"`
	Path      string   `json:"path,omitempty"`
	Paths     []string `json:"paths,omitempty"`     // a multi-lock's paths
	Max       int      `json:"max,omitempty"`       // a semaphore's limit, the seed of its count, a cache's depth
	Count     string   `json:"count,omitempty"`     // the path of a semaphore's SharedCount, of a number's lock
	Revocable bool     `json:"revocable,omitempty"` // contender: a request to leave becomes an event
	Patterns  []string `json:"patterns,omitempty"`  // kazoo's extra_lock_patterns

	Side  string `json:"side,omitempty"` // a read/write lock's side: read or write
	MS    int64  `json:"ms"`             // acquire: how long to wait; 0 is a try, below 0 without end
	N     int    `json:"n"`              // acquire: how many leases
	Value int64  `json:"value"`          // setvalue
	Old   int64  `json:"old,omitempty"`  // compareandset
	Node  string `json:"node,omitempty"` // revoke, write: a path; the name of a service

	Mode     string   `json:"mode,omitempty"`     // contender: a persistent node's mode, as Java calls it
	Protect  bool     `json:"protect,omitempty"`  // contender: a persistent node under protection
	Payloads string   `json:"payloads,omitempty"` // contender, of services: job, map, string, long, spring
	Enabled  bool     `json:"enabled,omitempty"`  // contender, of services: "enabled" is written
	Service  *Service `json:"service,omitempty"`

	Store string `json:"store,omitempty"` // work, of this library: where holders write; see Write

	Times int   `json:"times,omitempty"` // work
	Hold  int64 `json:"hold,omitempty"`  // work: µs to hold
	Pause int64 `json:"pause,omitempty"` // work: µs in between
}

// openTimeout is how long open waits for a connection: MS, or a minute if that is not positive, for busy machines.
func (o Order) openTimeout() time.Duration {
	if o.MS > 0 {
		return time.Duration(o.MS) * time.Millisecond
	}
	return time.Minute
}

// An Answer says what came of an order, or what happened by itself. Times are CLOCK_MONOTONIC in ns, so those of
// different processes compare.
//
// Events: acquired, released (the moment before the release was asked for), missed, failed, revoke; wrote, with the
// kind of the Write in IDs, and Began before the last look at the lease; cache, with one
// CacheNode; services, with all that a service cache has; created, of a persistent node; and suspended and lost of a
// client, which is then Who.
type Answer struct {
	ID       int64    `json:"id,omitempty"`
	Event    string   `json:"event,omitempty"`
	Who      string   `json:"who,omitempty"`
	OK       bool     `json:"ok"` // acquire: false without an Error means that the time was up
	Began    int64    `json:"began,omitempty"`
	Ended    int64    `json:"ended,omitempty"`
	Valid    int64    `json:"valid,omitempty"` // ours: until when the hold lasts, or lasted, at most
	Nodes    []string `json:"nodes,omitempty"` // names
	IDs      []string `json:"ids,omitempty"`   // report: participants in order; owned: the first one leads
	Value    int      `json:"value,omitempty"`
	Values   []int64  `json:"values,omitempty"`  // work: of a number; Value is how often it took its lock
	Session  string   `json:"session,omitempty"` // open; report of a cache
	Acquired bool     `json:"acquired,omitempty"`
	Owned    bool     `json:"owned,omitempty"`
	Error    string   `json:"error,omitempty"`
	Loss     *Loss    `json:"loss,omitempty"` // explain

	Cache    []CacheNode `json:"cache,omitempty"`    // the cache's nodes, or its event
	Services []Service   `json:"services,omitempty"` // the instances that were asked for, or those of an event
}

// A Service is an instance in Java's ServiceDiscovery, whatever stands on the wire.
type Service struct {
	Name         string          `json:"name"`
	ID           string          `json:"id"`
	Address      string          `json:"address,omitempty"`
	Port         *int            `json:"port,omitempty"`
	SSLPort      *int            `json:"sslPort,omitempty"`
	Payload      json.RawMessage `json:"payload,omitempty"` // without "@class"
	PayloadClass string          `json:"payloadClass,omitempty"`
	Registered   int64           `json:"registered"` // in ms
	Type         string          `json:"type"`
	URISpec      string          `json:"uriSpec,omitempty"`
	URI          string          `json:"uri,omitempty"` // an answer: what the URISpec builds
	Enabled      bool            `json:"enabled"`
}

// A CacheNode is a node in the state of a cache, or in an event. Kinds of events are created, changed and deleted; and
// of the whole cache, without a path, synced, and as the cache says them stale, suspended, lost and reconnected.
type CacheNode struct {
	Kind     string     `json:"kind,omitempty"`
	Path     string     `json:"path,omitempty"`
	Data     string     `json:"data,omitempty"`
	Czxid    int64      `json:"czxid,omitempty"`
	Mzxid    int64      `json:"mzxid,omitempty"`
	Pzxid    int64      `json:"pzxid,omitempty"`
	Version  int32      `json:"version,omitempty"`
	Cversion int32      `json:"cversion,omitempty"`
	Old      *CacheNode `json:"old,omitempty"` // changed: the node before
}

// Now is CLOCK_MONOTONIC in ns, which is System.nanoTime and time.monotonic_ns elsewhere.
func Now() int64 {
	const clockMonotonic = 1
	var t syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&t)), 0)
	if errno != 0 {
		panic(errno)
	}
	return t.Nano()
}

// A mouth says answers, one at a time.
type mouth struct {
	mu  sync.Mutex
	out *json.Encoder
}

func newMouth(out io.Writer) *mouth { return &mouth{out: json.NewEncoder(out)} }

func (m *mouth) say(a *Answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = m.out.Encode(a) // to a parent that is gone there is nothing to say
}
