package zktest

import (
	"slices"
	"time"
)

type txnObserver struct{ call func(Transaction) }

// ObserveTransactions calls fn for each transaction of the server or of its ensemble, at its commit and in the order of
// zxids, until stop is called. Every server of an ensemble shows the same transactions, whichever of them a client
// asked. A transaction is shown before any client can learn of it. A request that failed and used up a zxid is shown as
// well.
//
// The store is locked while fn runs: fn must neither call a method of the server nor block. It may keep what it
// gets but must not modify it. stop does not wait for fn, but when it returns fn is not called any more.
func (s *Server) ObserveTransactions(fn func(Transaction)) (stop func()) {
	o := &txnObserver{fn}
	s.mu.Lock()
	defer s.unlock()
	s.txnObservers = append(s.txnObservers, o)
	return func() {
		s.mu.Lock()
		defer s.unlock()
		s.txnObservers = slices.DeleteFunc(s.txnObservers, func(x *txnObserver) bool { return x == o })
	}
}

// show calls the observers. It runs before the servers learn of t, since with that events and answers begin to leave.
func (t *txn) show() {
	shown := Transaction{
		Zxid: t.zxid, At: time.UnixMilli(t.time), Session: t.session, Request: t.request, Failed: t.failed,
		EndsSession: t.ended != 0,
	}
	for _, c := range t.changes {
		if kind, ok := shownKinds[c.kind]; ok {
			shown.Changes = append(shown.Changes, Change{Kind: kind, Path: c.path, Owner: c.owner, Data: c.data})
		}
	}
	for _, o := range t.st.txnObservers {
		o.call(shown)
	}
}

// shownKinds lacks changeCounter, which SetCreateCounter makes in place of many creations and deletions.
var shownKinds = map[changeKind]ChangeKind{
	changeCreate: Created, changeDelete: Deleted, changeData: DataSet, changeACL: ACLSet,
}
