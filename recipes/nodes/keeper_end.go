package nodes

import (
	"context"
	"errors"
	"time"

	"github.com/gocurator/curator/framework"
)

// leave gives the path free.
func (k *keeper) leave() {
	if !k.node.options.sequential() {
		k.registry.drop(k.absolute)
	}
	close(k.done)
}

// end ends the keeping, and returns what has become of the node.
func (k *keeper) end() error {
	k.stop()
	timeout := time.NewTimer(k.node.client.ConnectionTimeout())
	defer timeout.Stop()
	<-k.done
	if k.remove != nil {
		k.turn <- struct{}{}
		defer func() { <-k.turn }()
		return k.remove()
	}
	if k.removal == nil {
		return nil
	}
	select {
	case <-k.removal.Done():
	case <-timeout.C:
		return context.DeadlineExceeded
	}
	err := k.removal.Err()
	if errors.Is(err, framework.ErrSessionLost) || errors.Is(err, framework.ErrClosed) {
		return nil // the node goes with its session
	}
	if err == nil {
		select {
		case err = <-k.former:
		default:
		}
	}
	return err
}
