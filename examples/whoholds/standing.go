package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// A standing is somebody at the lock.
type standing struct {
	locks.Participant
	state string // holds, waits, …
}

func (s standing) name() string { return path.Base(s.Path) }

// read returns all who hold a lock or wait for it, the holders first.
func read(ctx context.Context, client *framework.Client, lock string) ([]standing, error) {
	children, _, err := client.Children(ctx, lock)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil // the directory goes with the last contender
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(children, "leases") || slices.Contains(children, "locks") {
		return semaphore(ctx, client, lock)
	}
	if slices.ContainsFunc(children, isLatch) {
		return latch(ctx, client, lock)
	}
	// A mutex takes the nodes of a read/write lock for contenders, too, so this is the queue of either. A LeaderSelector is a
	// mutex whose nodes have ids.
	line, err := locks.NewInterProcessMutex(client, lock).Participants(ctx)
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil // it has gone meanwhile
	}
	if err != nil {
		return nil, err
	}
	all := make([]standing, 0, len(line))
	readersOnly := true // up to here
	for i, p := range line {
		reads := strings.Contains(path.Base(p.Path), "__READ__") || strings.Contains(path.Base(p.Path), "__rlock__")
		readersOnly = readersOnly && reads
		switch {
		case reads && readersOnly:
			all = append(all, standing{p, "reads"})
		case i == 0:
			all = append(all, standing{p, "holds"})
		default:
			all = append(all, standing{p, "waits"})
		}
	}
	return all, nil
}

// isLatch reports whether a node is a LeaderLatch's.
func isLatch(name string) bool { return strings.Contains(name, "-latch-") }

// latch reads the participants of the election of LeaderLatches.
func latch(ctx context.Context, client *framework.Client, lock string) ([]standing, error) {
	line, err := leader.NewLeaderLatch(client, lock).Participants(ctx)
	all := make([]standing, len(line))
	for i, p := range line {
		state := "waits"
		if p.Leads {
			state = "leads"
		}
		all[i] = standing{state: state, Participant: locks.Participant{
			Path: p.Path, Session: p.Session, Since: p.Since, Data: []byte(p.ID), Token: p.Token,
		}}
	}
	return all, err
}

// semaphore reads the two directories of a semaphore: the leases, and the queue of those who want one.
func semaphore(ctx context.Context, client *framework.Client, lock string) ([]standing, error) {
	queue, err := locks.NewInterProcessMutex(client, lock+"/locks").Participants(ctx)
	if err != nil && !errors.Is(err, zk.ErrNoNode) { // this directory goes before that of the leases
		return nil, err
	}
	leases, err := locks.NewInterProcessSemaphoreV2(client, lock, 1).Participants(ctx) // the limit does not matter for a look
	if err != nil {
		return nil, err
	}
	var all []standing
	for i, p := range leases {
		state := "holds"
		if last := i == len(leases)-1; last && len(queue) > 0 && queue[0].Session == p.Session {
			state = "is next" // the first in the queue has made its lease's node, and waits until it counts
		}
		all = append(all, standing{p, state})
	}
	for _, p := range queue {
		all = append(all, standing{p, "waits"})
	}
	return all, nil
}

// holders returns those who hold the lock.
func holders(all []standing) (holding []standing) {
	for _, s := range all {
		if s.state == "holds" || s.state == "reads" || s.state == "leads" {
			holding = append(holding, s)
		}
	}
	return holding
}

// table prints them. Their times are the server's, so a clock that differs makes "for" wrong.
func table(lock string, all []standing, now time.Time) string {
	if len(all) == 0 {
		return lock + " is free: nobody holds it, nobody waits\n"
	}
	var out bytes.Buffer
	columns := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	row := func(format string, args ...any) { _, _ = fmt.Fprintf(columns, format, args...) } // to memory
	row("%s: held by %d, %d waiting\n\n", lock, len(holders(all)), len(all)-len(holders(all)))
	row("STATE\tWHO\tSINCE\tFOR\tSESSION\tTOKEN\tNODE\n")
	for _, s := range all {
		row("%s\t%s\t%s\t%v\t%#x\t%d\t%s\n", s.state, printable(s.Data),
			s.Since.UTC().Format(time.RFC3339), now.Sub(s.Since).Round(time.Second), uint64(s.Session), s.Token, s.name())
	}
	_ = columns.Flush()
	return out.String()
}

// printable shows a node's data if it is text.
func printable(data []byte) string {
	text := string(data)
	if text == "" || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return fmt.Sprintf("(%d bytes)", len(data))
	}
	return text
}
