package zktest

import (
	"slices"
	"strings"
	"time"
)

// Match selects requests. A zero field matches anything.
type Match struct {
	Op      Op
	Path    string // exactly, or with a final "*" by prefix; any of the paths of a multi or multiRead
	Session int64
	Nth     int // the how manieth match from now on is meant; 0 means 1
}

// Request describes a client's request to an observer.
type Request struct {
	Op      Op
	Path    string // the first path of a multi or multiRead; "" where there is none
	Session int64
	Xid     int32
	Conn    int // connections count from 1 in the order of their dials
}

type rule struct {
	match       Match
	seen        int
	dropReply   bool
	swallow     bool
	dropRequest bool
	throttle    bool
	delay       time.Duration
	hold        chan struct{}
	stall       chan struct{}
}

type observer struct{ call func(Request) }

// A counter counts the requests that match.
type counter struct {
	match Match
	n     int
}

// plan is what is to be done to one request.
type plan struct {
	request     Request
	observers   []*observer
	counters    []*counter
	holds       []chan struct{}
	stalls      []chan struct{}
	dropReply   bool
	swallow     bool
	dropRequest bool
	throttle    bool
	delay       time.Duration
}

// due is when the answer is to be sent; zero: now.
func (p *plan) due() time.Time {
	if p.delay <= 0 {
		return time.Time{}
	}
	return time.Now().Add(p.delay)
}

// plan matches a request that has just arrived against the rules.
func (c *conn) plan(xid int32, op Op, body []byte) plan {
	paths := pathsOf(op, body)
	s := c.srv
	s.mu.Lock()
	defer s.unlock()
	p := plan{request: Request{Op: op, Xid: xid, Conn: c.number}, observers: slices.Clone(s.observers)}
	if c.sess != nil {
		p.request.Session = c.sess.id
	}
	if len(paths) > 0 {
		p.request.Path = paths[0]
	}
	if c.closed {
		return p
	}
	s.heardFrom(c.sess) // it has been heard from, even if it is held now
	for _, n := range s.counters {
		if n.match.matches(p.request, paths) {
			p.counters = append(p.counters, n)
		}
	}
	for _, r := range s.rules {
		if !r.match.matches(p.request, paths) {
			continue
		}
		if r.seen++; r.seen < max(1, r.match.Nth) {
			continue
		}
		p.dropReply = p.dropReply || r.dropReply
		p.swallow = p.swallow || r.swallow
		p.dropRequest = p.dropRequest || r.dropRequest
		p.throttle = p.throttle || r.throttle
		p.delay += r.delay
		if r.hold != nil {
			p.holds = append(p.holds, r.hold)
		}
		if r.stall != nil {
			p.stalls = append(p.stalls, r.stall)
		}
	}
	s.rules = slices.DeleteFunc(s.rules, func(r *rule) bool { return r.seen >= max(1, r.match.Nth) })
	s.rehook()
	return p
}

func (m Match) matches(r Request, paths []string) bool {
	if m.Op != 0 && m.Op != r.Op || m.Session != 0 && m.Session != r.Session {
		return false
	}
	if m.Path == "" {
		return true
	}
	prefix, wild := strings.CutSuffix(m.Path, "*")
	return slices.ContainsFunc(paths, func(p string) bool {
		return p == m.Path || wild && strings.HasPrefix(p, prefix)
	})
}

func pathsOf(op Op, body []byte) (paths []string) {
	d := decoder{b: body}
	switch {
	case op == OpMulti:
		for _, w := range readMulti(&d) {
			paths = append(paths, w.node.path)
		}
	case op == OpMultiRead:
		gets, _ := readGets(&d)
		for _, g := range gets {
			paths = append(paths, g.path)
		}
	case op.hasPath():
		if path := d.string(); !d.bad {
			paths = append(paths, path)
		}
	}
	return paths
}

func (st *store) addRule(r *rule) {
	st.mu.Lock()
	defer st.unlock()
	st.rules = append(st.rules, r)
	st.rehook()
}

// counted counts a request that is executed.
func (st *store) counted(op Op, p *plan) {
	st.counts[op]++
	for _, n := range p.counters {
		n.n++
	}
}

func (st *store) rehook() { st.hooked.Store(len(st.rules)+len(st.observers)+len(st.counters) > 0) }
