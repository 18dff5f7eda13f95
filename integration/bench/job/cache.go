package job

import (
	"fmt"
	"time"
)

// A CacheJob is what a process with a cache is to do. It fills a cache with the tree at Path, Fills times, each with a
// client of its own, and says [CacheFull]. Then the benchmark changes nodes of the tree, and says [CacheEnd]. When the
// last cache has had the event of the last change, the process says [CacheEvents], and ends.
type CacheJob struct {
	Server  string        `json:"server"` // host:port
	Path    string        `json:"path"`
	Fills   int           `json:"fills"`
	Session time.Duration `json:"session"`
}

// CacheFull says how the caches filled.
type CacheFull struct {
	Took []int64 `json:"took"` // nanoseconds from each start to the event that says that the cache is full
	// Memory is what one full cache has, in bytes: used heap after a collection, of the last fill; in Python the growth
	// of the process with the first fill, since what is freed there does not go back to the system.
	Memory int64  `json:"memory"`
	Nodes  int    `json:"nodes"` // in the last cache
	Error  string `json:"error,omitempty"`
}

// CacheEnd names the last change.
type CacheEnd struct {
	Last int64 `json:"last"` // its stamp
}

// CacheEvents has the changes of which the listener has heard.
type CacheEvents struct {
	Stamps []int64 `json:"stamps"` // the changes'
	Heard  []int64 `json:"heard"`  // when each event came
	Error  string  `json:"error,omitempty"`
}

// CacheBytes is how many bytes each node of a cache's tree has.
const CacheBytes = 100

// Stamp returns the data of a node that is changed at a time: the time in digits, and blanks. 0 stands for no change.
func Stamp(at int64) []byte { return fmt.Appendf(nil, "%-*d", CacheBytes, at) }
