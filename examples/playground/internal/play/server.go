package play

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// A Server is ZooKeeper in memory, and reports what the lock's directory has.
type Server struct {
	*zktest.Server

	mu       sync.Mutex
	tell     func(Event)            // one call at a time
	removing atomic.Pointer[string] // the node that Remove is about to delete

	// For observe alone.
	nodes   []entry       // in the lock's directory, in the order of their creation
	workers map[int64]int // by the sessions that had a node
}

type entry struct {
	path   string
	worker int
}

// NewServer starts a server, which ends sessions within a tenth of a second after their timeout. tell gets its events,
// on one goroutine at a time, and must not block.
func NewServer(tell func(Event)) *Server {
	// An empty directory stays for as long as on a real server: one that is made again counts from 0, and a retained
	// lock is kept only where the numbers show that no other client had it.
	server := zktest.NewServer(zktest.WithContainerCheckInterval(time.Minute))
	s := &Server{Server: server, tell: tell, workers: make(map[int64]int)}
	s.ObserveTransactions(s.observe)
	return s
}

// Remove deletes a worker's node, as an administrator does by hand, and reports which.
func (s *Server) Remove(worker int) {
	names := s.Children(Path)
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(digits(b), digits(a)) }) // the newest first
	for _, name := range names {
		if node := path.Join(Path, name); s.ownerOf(node) == worker {
			s.removing.Store(&node)
			err := s.Delete(node)
			s.removing.Store(nil)
			if err == nil {
				return
			}
		}
	}
	s.report(Event{Kind: Removed, Worker: worker})
}

func (s *Server) report(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.At = stamp(time.Now())
	s.tell(e)
}

func (s *Server) ownerOf(node string) int {
	data, _ := s.Data(node)
	return number(data)
}

// number is that of the worker whose node has such data; 0 if it is none.
func number(data []byte) (n int) {
	if _, err := fmt.Sscanf(string(data), "worker %d", &n); err != nil {
		return 0
	}
	return n
}

// observe runs with the server's store locked.
func (s *Server) observe(t zktest.Transaction) {
	changed, gone := false, ""
	for _, c := range t.Changes {
		switch {
		case !strings.HasPrefix(c.Path, Path+"/"):
			continue
		case c.Kind == zktest.Created:
			worker := number(c.Data)
			s.nodes = append(s.nodes, entry{c.Path, worker})
			if worker != 0 {
				s.workers[c.Owner] = worker
			}
		case c.Kind == zktest.Deleted:
			gone = path.Base(c.Path)
			if removing := s.removing.Load(); removing != nil && *removing == c.Path && t.Session == 0 {
				s.report(Event{Kind: Removed, Worker: s.workers[c.Owner], Node: gone})
			}
			s.nodes = slices.DeleteFunc(s.nodes, func(e entry) bool { return e.path == c.Path })
		default:
			continue
		}
		changed = true
	}
	if t.EndsSession {
		if t.Request == 0 { // its client did not ask for it
			s.report(Event{Kind: Expired, Worker: s.workers[t.Session], Node: gone})
		}
		delete(s.workers, t.Session)
	}
	if changed {
		s.report(Event{Kind: Queue, Queue: s.queue()})
	}
}

// queue lists the nodes of contenders in the order of their numbers, which is that in which they are served.
func (s *Server) queue() []Node {
	queue := []Node{} // in JSON an empty list, and not null
	for _, e := range s.nodes {
		queue = append(queue, Node{Name: path.Base(e.path), Worker: e.worker})
	}
	slices.SortFunc(queue, func(a, b Node) int { return cmp.Compare(digits(a.Name), digits(b.Name)) })
	return queue
}

// digits is the number at the end of a node's name.
func digits(name string) string { return name[max(0, len(name)-10):] }
