// Package survey reads what stands at locks, of this library, of Java Curator, of kazoo and of go-zookeeper. It only
// reads.
package survey

import (
	"strconv"
	"strings"
)

// A Kind says what a node in a queue is.
type Kind string

// Kinds of nodes.
const (
	Mutex     Kind = "mutex"     // a mutex's or a LeaderSelector's, which look alike
	Reader    Kind = "reader"    //
	Writer    Kind = "writer"    //
	Lease     Kind = "lease"     // a semaphore's
	Latch     Kind = "latch"     // a LeaderLatch's
	KazooLock Kind = "kazoo"     // kazoo's Lock or WriteLock
	KazooRead Kind = "kazooRead" // kazoo's ReadLock
)

// Shared reports whether nodes of the kind hold together with others of it: readers.
func (k Kind) Shared() bool { return k == Reader || k == KazooRead }

// family is the kind of lock that a kind of node belongs to.
func (k Kind) family() string {
	switch k {
	case Reader, Writer:
		return "read/write"
	case KazooLock, KazooRead:
		return "kazoo"
	case Lease:
		return "semaphore"
	default:
		return string(k)
	}
}

// Describe names the lock whose nodes are of these kinds, such as "read/write", or "unused" if there is none.
func Describe(kinds ...Kind) string {
	families := map[string]bool{}
	for _, k := range kinds {
		families[k.family()] = true
	}
	return describe(families)
}

// markers are what stands before the number, and what it means. Those with underscores may follow a GUID directly.
var markers = []struct {
	text string
	kind Kind
}{
	{"__READ__", Reader},
	{"__WRIT__", Writer},
	{"__rlock__", KazooRead},
	{"__lock__", KazooLock},
	{"lease-", Lease},
	{"latch-", Latch},
	{"lock-", Mutex},
}

// A Name is what the name of a node in a queue says.
type Name struct {
	Kind   Kind
	Number int64 // its place in the queue
	By     string
}

// ParseName reads the name of a node. Names that no library gives to a contender are not ok.
func ParseName(name string) (n Name, ok bool) {
	marked := strings.TrimRight(name, "0123456789")
	digits := len(name) - len(marked)
	if digits < 10 {
		return Name{}, false
	}
	for _, m := range markers {
		before, ok := strings.CutSuffix(marked, m.text)
		if !ok { // behind 2,147,483,647 servers give out negative numbers
			if before, ok = strings.CutSuffix(strings.TrimSuffix(marked, "-"), m.text); !ok {
				continue
			}
			digits++
		}
		number, err := strconv.ParseInt(name[len(name)-digits:], 10, 32)
		if err != nil {
			return Name{}, false
		}
		if by, ok := author(before, m.kind); ok {
			return Name{m.kind, number, by}, true
		}
		return Name{}, false
	}
	return Name{}, false
}

// author returns the library that made a node, by what stands before the marker.
func author(before string, kind Kind) (by string, ok bool) {
	guid, protected := strings.CutPrefix(before, "_c_")
	guid, dashed := strings.CutSuffix(guid, "-")
	switch {
	case before == "":
		return "", true // Curator without protection
	case protected && dashed && isHex(strings.ReplaceAll(guid, "-", "")) && strings.Contains(guid, "-"):
		return "curator", true // Go's and Java's names look alike on purpose
	case protected && dashed && isHex(guid):
		return "zk.Lock", true
	case (kind == KazooLock || kind == KazooRead) && !protected && isHex(before):
		return "kazoo", true
	default:
		return "", false
	}
}

func isHex(s string) bool { return len(s) == 32 && strings.Trim(s, "0123456789abcdef") == "" }
