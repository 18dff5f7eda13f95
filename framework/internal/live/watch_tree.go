package live

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/retry"
)

// A treeQuestion asks servers whether they take watches of trees, each in a connection of its own, before one is set: a
// server that does not would close the session's connection, on which leases rest. Until the answer a tree is not
// watched, and its node keeps a watch of its own.
//
// One goroutine asks at a time. It begins when a server comes that is not known, or the first tree, and looks under the
// mutex, after each question, at what there is to ask by then. So these orders come to the same:
//
//   - UnwatchTree, and then the answer: it is kept for the next tree. If there was none, nothing is asked again.
//   - The connection is lost, and then the answer, or none: the loss breaks the question off. What was answered counts
//     for the server that was asked. A connection to another server that comes before the goroutine has looked begins
//     no second one: the first one goes on with that server.
//   - The session ends: the goroutine asks nothing more, and Runner.Close waits for it.
//   - The answer comes together with a connection to the same server: that one sets the trees, and SetTrees does
//     nothing.
type treeQuestion struct {
	done sync.WaitGroup // the goroutine; grows under the mutex, until over is set

	// Guarded by the mutex.
	asking   bool
	breakOff context.CancelFunc // ends the present question; nil before the first
}

func (w *watching) observeTree(path string, o session.TreeObserver) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.support.Lacks(transport.FeatureTreeWatches) {
		return noTrees()
	}
	w.table.ObserveTree(path, o, time.Now())
	w.askLocked()
	w.askForTreesLocked()
	w.validity.wakeIfDueLocked(w.clock.Now())
	return nil
}

func noTrees() error {
	return fmt.Errorf("%w: watches of trees came with ZooKeeper 3.6", session.ErrUnsupported)
}

// giveUpTreesLocked ends all observations of trees if the server lacks such watches.
func (w *watching) giveUpTreesLocked() {
	if w.table.HasTrees() && w.support.Lacks(transport.FeatureTreeWatches) {
		w.table.RefuseTrees(noTrees(), time.Now())
	}
}

// askForTreesLocked has the server asked if that is needed and not under way.
func (w *watching) askForTreesLocked() {
	if !w.trees.asking && w.inQuestionLocked() {
		w.trees.asking = true
		w.trees.done.Go(w.askForTrees)
	}
}

// inQuestionLocked reports whether trees wait for an answer of the present server.
func (w *watching) inQuestionLocked() bool {
	return w.online && w.over == nil && w.table.HasTrees() &&
		!w.support.Has(transport.FeatureTreeWatches) && !w.support.Lacks(transport.FeatureTreeWatches)
}

// breakOffQuestionLocked ends the question: the connection is lost, or the session over.
func (w *watching) breakOffQuestionLocked() {
	if w.trees.breakOff != nil {
		w.trees.breakOff()
	}
}

// askForTrees asks one server after the other, as the session comes to them, until there is nothing to ask.
func (w *watching) askForTrees() {
	for {
		w.mu.Lock()
		if !w.inQuestionLocked() {
			w.trees.asking = false
			w.mu.Unlock()
			return
		}
		ctx, breakOff := context.WithCancel(context.Background()) //nolint:forbidigo // ends with the connection
		w.trees.breakOff = breakOff
		w.mu.Unlock()
		w.askServer(ctx)
		breakOff()
	}
}

// askServer asks the present server until it has answered, no tree waits for that, or ctx ends, and acts on the answer.
// A server that has not answered within the connection timeout, since it takes no second connection from this host, for
// one, is not known to lack trees; but those that are there wait no longer.
func (w *watching) askServer(ctx context.Context) {
	var pace retry.Pace
	first := time.Now()
	for failed := false; ; failed = true {
		began := time.Now()
		err := w.transport.AskForTrees(ctx)
		if err != nil && ctx.Err() == nil && !failed {
			w.cfg.Transport.Logger.Warn("framework: the server could not be asked whether it watches trees, and is asked again", "error", err)
		}
		if err != nil && ctx.Err() == nil && time.Since(first) >= w.cfg.Transport.ConnectionTimeout {
			err = fmt.Errorf("%w, as far as is known: the server could not be asked: %w", session.ErrUnsupported, err)
			w.changeAndWake(func() { w.table.RefuseTrees(err, time.Now()) })
			return
		}
		if !w.settleTrees() || pace.Wait(ctx, time.Since(began)) != nil {
			return
		}
	}
}

// settleTrees sets the trees at the present server, or refuses them, or reports that this is still in question. Refused
// comes after Lost: the goroutine that reads the connection has called that before it opened the next one.
func (w *watching) settleTrees() (open bool) {
	w.changeAndWake(func() {
		if w.online && w.over == nil {
			w.giveUpTreesLocked()
			if w.support.Has(transport.FeatureTreeWatches) {
				w.table.SetTrees(time.Now())
			}
		}
		open = w.inQuestionLocked()
	})
	return open
}
