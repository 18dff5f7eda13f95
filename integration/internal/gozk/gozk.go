// Package gozk opens sessions with the client library go-zookeeper alone, for tests and measurements beside this
// library.
package gozk

import (
	"context"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Connect returns a connection that has a session. ctx bounds the wait for it. Nothing is logged.
func Connect(ctx context.Context, server string, timeout time.Duration) (*zk.Conn, error) {
	conn, events, err := zk.Connect([]string{server}, timeout, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		return nil, err
	}
	for {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn, nil
			}
		case <-ctx.Done():
			conn.Close()
			return nil, fmt.Errorf("no session with %s: %w", server, context.Cause(ctx))
		}
	}
}

type silent struct{}

func (silent) Printf(string, ...any) {}
