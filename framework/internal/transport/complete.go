package transport

import (
	"fmt"

	"github.com/go-zookeeper/zk"
)

// An answer is what stands in the body of a successful answer. Which of its fields count is for the call's function to
// say.
type answer struct {
	path    string
	stat    *zk.Stat
	names   []string
	data    []byte
	acl     []zk.ACL
	results []OpResult
}

// A completion is the caller's function. Its type says what stands in the body of an answer, so that a call needs no
// second function around it. Converting a function to it does not allocate.
type completion interface {
	// read takes the body of an answer to c apart.
	read(c *Call, d *decoder) answer
	// end hands the caller the server's answer, or the reason why there is none.
	end(a answer, err error)
}

type (
	errorDone    func(err error)
	statDone     func(stat *zk.Stat, err error)
	createDone   func(path string, stat *zk.Stat, err error)
	childrenDone func(children []string, stat *zk.Stat, err error)
	dataDone     func(data []byte, stat *zk.Stat, err error)
	aclDone      func(acl []zk.ACL, stat *zk.Stat, err error)
	multiDone    func(results []OpResult, err error)
)

func (errorDone) read(c *Call, d *decoder) (a answer) {
	switch c.op {
	case opSync:
		_ = d.view()
	case opAddWatch:
		_ = d.int32() // always 0
	}
	return a
}

func (statDone) read(_ *Call, d *decoder) answer { return answer{stat: d.stat()} }

func (createDone) read(c *Call, d *decoder) answer {
	a := answer{path: d.string()}
	if c.op != opCreate {
		a.stat = d.stat()
	}
	return a
}

func (childrenDone) read(_ *Call, d *decoder) answer {
	return answer{names: d.strings(), stat: d.stat()}
}
func (dataDone) read(_ *Call, d *decoder) answer  { return answer{data: d.bytes(), stat: d.stat()} }
func (aclDone) read(_ *Call, d *decoder) answer   { return answer{acl: d.acl(), stat: d.stat()} }
func (multiDone) read(c *Call, d *decoder) answer { return answer{results: d.multi(c.ops)} }

func (done errorDone) end(_ answer, err error)    { done(err) }
func (done statDone) end(a answer, err error)     { done(a.stat, err) }
func (done createDone) end(a answer, err error)   { done(a.path, a.stat, err) }
func (done childrenDone) end(a answer, err error) { done(a.names, a.stat, err) }
func (done dataDone) end(a answer, err error)     { done(a.data, a.stat, err) }
func (done aclDone) end(a answer, err error)      { done(a.acl, a.stat, err) }
func (done multiDone) end(a answer, err error)    { done(a.results, err) }

// read takes the body of an answer apart.
func (c *Call) read(d *decoder) (answer, error) {
	a := c.done.read(c, d)
	return a, d.end()
}

// complete hands the caller the server's answer.
func (c *Call) complete(a answer) { c.done.end(a, nil) }

// fail hands the caller the error with which the call has failed.
func (c *Call) fail(err error) { c.done.end(answer{}, err) }

// broken is the error of a call whose answer ended the connection. Like all calls behind it, it may have been executed.
func broken(reason error) error { return fmt.Errorf("%w: %w", ErrBroken, reason) }
