package session

import (
	"errors"
	"fmt"
)

// A LossKind says why a lease, a term or a registration was lost. The list is closed: a metric can have one label for
// each. A release may add to it.
type LossKind int

const (
	// LossUnknown says that what the client saw names no single cause.
	LossUnknown LossKind = iota
	// LossProcessStopped says that the process did not run: it was stopped, throttled, or starved of a processor.
	LossProcessStopped
	// LossMachineSuspended says that the machine was suspended, as a closed laptop is.
	LossMachineSuspended
	// LossNotReached says that no server could be reached: connections were refused, timed out, or failed otherwise.
	LossNotReached
	// LossNotAnswered says that connections stood, and nothing came over them.
	LossNotAnswered
	// LossNotServing says that each server that was reached closed the connection instead of answering the handshake,
	// as servers without a leader do.
	LossNotServing
	// LossAnsweredLate says that servers answered, but renewals too late or not at all.
	LossAnsweredLate
	// LossSessionEnded says that the servers ended the session while they heard from this client: by an administrator,
	// or with a restored snapshot, for instance.
	LossSessionEnded
	// LossNodeRemoved says that the node was removed, by another session or by hand. Until the next answer of a server
	// the sentence adds that it may have gone with its session: see [NodeLoss].
	LossNodeRemoved
	// LossClientClosed says that this client was closed.
	LossClientClosed
	// LossConnectionLost says that the connection was lost, which ends leases only under [StandardErrorPolicy]. If the
	// client then finds that the servers had ended the session while they heard from it, a later call returns
	// [LossSessionEnded].
	LossConnectionLost
	// LossAuthRefused says that a server refused this client's authentication.
	LossAuthRefused
)

var lossKinds = [...]string{
	"unknown", "process-stopped", "machine-suspended", "not-reached", "not-answered", "not-serving", "answered-late", "session-ended",
	"node-removed", "client-closed", "connection-lost", "auth-refused",
}

// LossKinds returns all kinds, for a metric that begins at zero for each.
func LossKinds() []LossKind {
	kinds := make([]LossKind, len(lossKinds))
	for i := range kinds {
		kinds[i] = LossKind(i)
	}
	return kinds
}

// String is a word for a metric's label: "process-stopped", "not-reached", and so on.
func (k LossKind) String() string {
	if k < 0 || int(k) >= len(lossKinds) {
		return fmt.Sprintf("LossKind(%d)", int(k))
	}
	return lossKinds[k]
}

// An Explanation says why something was lost, by what its client saw.
type Explanation struct {
	Kind LossKind
	// Sentence is for people: one line without a period, such as "this process did not run for at least 11.2 s".
	Sentence string
	// Evidence supports Sentence, with one line for each event, the oldest first, and its time before the loss. It must
	// not be changed, because all leases that ended together share it.
	Evidence []string
}

// String is the sentence.
func (e Explanation) String() string { return e.Sentence }

// A NodeLoss is the loss of a session's node, as [Nodes] NodeLost returns it. As an error it is [ErrNodeDeleted].
//
// When servers end a session they may report the removal of its nodes before they close its connection. The next answer
// of a server shows that the session lived on, so that the node was removed; if the session ends without one, the node
// went with it. Until then, or for good if the connection was lost as well, the explanation is [LossNodeRemoved] with a
// sentence that says both.
type NodeLoss interface {
	error
	// Explain is for the function [Explain].
	Explain() Explanation
	// OnSettled calls fn once, when the explanation is final, after the next answer of a server or the end of the
	// session. fn runs on a goroutine of the client, or before OnSettled returns, and must not block.
	OnSettled(fn func())
}

// Explain returns the reason for a lost lease's error, the cause of its context's end, or a session's Err. For other
// errors it is [LossUnknown] with the error's text, and for nil zero. It does not block; the first call for what ended
// together takes some microseconds. It is safe for concurrent use.
//
// Curator has none.
func Explain(err error) Explanation {
	var explained interface{ Explain() Explanation }
	switch {
	case err == nil:
		return Explanation{}
	case errors.As(err, &explained):
		return explained.Explain()
	case errors.Is(err, ErrNodeDeleted):
		return Explanation{Kind: LossNodeRemoved, Sentence: "the node was removed, by another session or by hand"}
	case errors.Is(err, ErrClosed):
		return Explanation{Kind: LossClientClosed, Sentence: "this client was closed"}
	default:
		return Explanation{Sentence: oneLine(err)}
	}
}
