// Guardedwrite shows how to keep out a holder that is late: one that looked at its lease, was paused, and writes when
// another holder has the lock. No lock can stop it; the place that it writes to can.
//
//	go run -C examples ./guardedwrite                # on a server in memory
//	go run -C examples ./guardedwrite -zk zk1:2181   # on real ZooKeeper
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/examples/internal/demo"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed main.go
var source string // -h prints the comment at its head

func main() { demo.Main(guarded, demo.About(source)) }

// A store is any database outside ZooKeeper. In SQL it would be
//
//	UPDATE report SET body = $1, fence = $2 WHERE fence <= $2
type store struct {
	mu    sync.Mutex
	body  string
	fence int64
}

var errStale = errors.New("store: a writer with a greater token was here")

// write refuses a token that is smaller than one it has seen.
func (s *store) write(body string, token int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if token < s.fence {
		return errStale
	}
	s.body, s.fence = body, token
	return nil
}

func guarded(ctx context.Context, env *demo.Env) error {
	// Ann holds the lock, and writes to both places.
	annClient, line := env.BreakableClient()
	if err := demo.Put(ctx, env.Client(), "/report", ""); err != nil {
		return err
	}
	ann, err := locks.NewInterProcessMutex(annClient, "/lock").Acquire(ctx)
	if err != nil {
		return err
	}
	database := new(store)
	if err := errors.Join(
		database.write("Ann's", ann.FencingToken()),
		inZooKeeper(ctx, annClient, ann.Check(), "Ann's"),
	); err != nil {
		return err
	}
	env.Say("Ann holds the lock, and has written")

	// She has looked at her lease once more, and is about to write. Here she is paused.
	if err := ann.Err(); err != nil {
		return err
	}
	check := ann.Check() // made while she held the lock, and sent long after
	line.Cut()
	env.Say("Ann is paused")

	// Her session ends. Bob gets the lock, and writes.
	bobClient := env.Client()
	bob, err := locks.NewInterProcessMutex(bobClient, "/lock").Acquire(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(
		database.write("Bob's", bob.FencingToken()),
		inZooKeeper(ctx, bobClient, bob.Check(), "Bob's"),
	); err != nil {
		return err
	}
	env.Say("Bob holds the lock, and has written")

	// Ann goes on where she stood.
	line.Heal()
	if err := database.write("Ann's, late", ann.FencingToken()); !errors.Is(err, errStale) {
		return fmt.Errorf("the database said %w to the late holder", err)
	}
	env.Say("the database refuses Ann's write: her token is smaller than Bob's")
	if err := inZooKeeper(ctx, annClient, check, "Ann's, late"); !errors.Is(err, zk.ErrNoNode) {
		return fmt.Errorf("ZooKeeper said %w to the late holder", err)
	}
	env.Say("ZooKeeper refuses Ann's write: her node is gone, and so the whole transaction fails")
	if err := inZooKeeper(ctx, annClient, ann.Check(), "Ann's, late"); !errors.Is(err, locks.ErrLeaseLost) {
		return fmt.Errorf("a check that was made late said %w", err)
	}
	env.Say("a check that she makes now is refused before it is sent")

	data, _, err := bobClient.Get(ctx, "/report")
	if err != nil {
		return err
	}
	if database.body != "Bob's" || string(data) != "Bob's" {
		return fmt.Errorf("the report is %s there, %s in ZooKeeper", database.body, data)
	}
	env.Say("the report is Bob's in both places")
	return bob.Release()
}

// inZooKeeper writes the report if the node of the check is there at that very moment.
func inZooKeeper(ctx context.Context, client *framework.Client, check framework.Op, report string) error {
	_, err := client.Transaction(ctx, check, framework.SetOp("/report", []byte(report), -1))
	return err
}
