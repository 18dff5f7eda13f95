package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
)

// ephemeralPath is how long the paths are, in bytes: about as long as those of locks in a short directory.
const ephemeralPath = 60

// ephemerals finds how many ephemeral nodes a session may have. When it ends, the servers write all their paths into
// one transaction, which they cannot read again if it is longer than jute.maxbuffer and its extrasize, 2 MiB by
// default (ZOOKEEPER-4306). Each size has a server of its own, since the last one is of no use any more.
func ephemerals(ctx context.Context, l *lab) ([]*table, error) {
	t := &table{Name: "ephemerals", Title: "A session with many ephemeral nodes ends, and the server is started again", Columns: []string{
		"ephemeral nodes", "bytes of their paths", "create (µs each, 64 at once)", "server heap each (bytes)", "all are gone (ms)",
		"the server serves again (1: yes)",
	}}
	return []*table{t}, l.grow(t, l.sizes(10, 10_000, 20_000, 40_000), func(n int) (row []number, err error) {
		err = l.onServer(ctx, func(r *rig) error {
			row, err = r.endWithEphemerals(ctx, n, l)
			return err
		})
		return row, err
	})
}

func (r *rig) endWithEphemerals(ctx context.Context, n int, l *lab) ([]number, error) {
	const dir = "/scale-ephemerals"
	clients, err := r.open(ctx, 2, r.counted)
	if err != nil {
		return nil, err
	}
	defer func() { _ = closeAll(clients) }() // there may be no server
	if _, _, err := clients[1].Create(ctx, dir, nil); err != nil {
		return nil, err
	}
	server, begun, size := r.serverHeap(ctx), time.Now(), 0
	path := func(i int) string {
		start := dir + "/"
		return fmt.Sprintf("%s%s%06d", start, strings.Repeat("x", ephemeralPath-len(start)-6), i)
	}
	err = each(ctx, n, func(ctx context.Context, i int) error {
		_, _, err := clients[0].Create(ctx, path(i), nil, framework.WithMode(framework.Ephemeral))
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range n {
		size += len(path(i))
	}
	took, heap := number(time.Since(begun))/number(n)/number(time.Microsecond), (r.serverHeap(ctx)-server)/number(n)
	ended := time.Now()
	_ = clients[0].Close() // so many take longer than a client waits
	gone := missing
	if err := empty(ctx, clients[1], dir); err == nil {
		gone = millis(time.Since(ended))
	} else if _, err := fmt.Fprintf(l.log, "ephemerals: the nodes of the session that has ended: %v\n", err); err != nil {
		return nil, err
	}
	row := []number{number(n), number(size), took, heap, gone, 1}
	if err := r.crashAndServe(ctx); err != nil {
		row[len(row)-1] = 0
		if _, err := fmt.Fprintf(l.log, "ephemerals: %d: %v\n", n, err); err != nil {
			return nil, err
		}
	}
	return row, nil
}

// crashAndServe kills the server, or the leader, starts it again, and returns when it answers a new client.
func (r *rig) crashAndServe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	revive, err := r.crash(ctx)
	if err == nil {
		err = revive()
	}
	if err != nil {
		return err
	}
	clients, err := r.open(ctx, 1, r.counted)
	return errors.Join(err, closeAll(clients))
}
