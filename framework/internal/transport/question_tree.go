package transport

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A server before ZooKeeper 3.6 closes the connection on a request to watch a tree. So it gets that in a question
// first, once for each server and client, and on the session's connection only if it has taken it.
//
// What the answer is worth depends on the address: if that leads to one server after the other, as a balancer's does,
// it is perhaps another server's.

// hangUpsOnQuestion is after how many questions in a row that end with a closed connection the server lacks watches of
// trees.
const hangUpsOnQuestion = 2

// treeInQuestion is a path where hardly anything ever happens. A watch needs no node.
const treeInQuestion = "/zookeeper/config"

// AskForTrees asks the present server whether it takes watches of trees, and notes the answer in Config.Support. It
// blocks until there is one, or ctx ends.
//
// Errors: the server could not be asked, and may be asked again.
func (t *Transport) AskForTrees(ctx context.Context) error {
	l := t.current()
	if l == nil {
		return ErrBroken
	}
	// There is a connection: no other server waits for its turn, as it does in an attempt. A question takes twice as
	// many round trips as the handshake, which is all that the session needed in this time.
	limits := timeLimits{2 * t.cfg.ConnectionTimeout, t.cfg.ConnectionTimeout}
	var lack *lackError
	for range hangUpsOnQuestion {
		err := t.inQuestion(ctx, "tcp", l.address, limits, func(q *question) error { return q.tree(t.cfg.Authorizations()) })
		switch {
		case err == nil:
			t.cfg.Support.askedForTrees(l.server, nil)
			return nil
		case !errors.As(err, &lack):
			return err
		case !lack.closed:
			t.cfg.Support.askedForTrees(l.server, err)
			return nil
		}
	}
	t.cfg.Support.askedForTrees(l.server, lack)
	return nil
}

// A lackError says that a server does not take a request.
type lackError struct {
	reason error
	closed bool // it has closed the connection without an answer
}

func (e *lackError) Error() string { return e.reason.Error() }
func (e *lackError) Unwrap() error { return e.reason }

// tree asks for the watch of a tree. A closed connection counts for an answer as in Support: if another request was
// answered on it, and the server did not take its time. Nor may the session have expired: the server has heard of it
// when it got that other request, at the latest.
func (q *question) tree(auth []Auth) error {
	heard := time.Now()
	if _, err := q.conn.Write(Exists("/", false, nil).frame(authFrames(auth), xidQuestion)); err != nil {
		return err
	}
	switch code, err := q.await(xidQuestion); {
	case err != nil:
		return err
	case refusesAuth(code):
		return toError(code)
	}
	began := time.Now()
	if _, err := q.conn.Write(WatchTree(treeInQuestion, nil).frame(nil, xidQuestionTree)); err != nil {
		return err
	}
	code, err := q.await(xidQuestionTree)
	switch {
	case err != nil && hungUp(err) && time.Since(began) < promptly && time.Since(heard) < questionTimeout:
		return &lackError{fmt.Errorf("the server closed the connection on it: %w", err), true}
	case err != nil:
		return err
	case code == codeUnimplemented, Code(code) == ErrMarshalling: // the latter from a WatchManagerOptimized
		return &lackError{toError(code), false}
	case code == codeNoAuth: // about the node: it knows the request
		return nil
	default:
		return toError(code)
	}
}

// await returns the code of the answer to one request.
func (q *question) await(request int32) (code int32, err error) {
	for {
		xid, _, code, err := q.answer()
		if err != nil || xid == request {
			return code, err
		}
	}
}
