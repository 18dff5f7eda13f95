package session_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest"
)

// A recipe of two functions: members of a group, each with a node, and the wait until there are enough of them. Join
// blocks until n members have joined, through lost connections and sessions, or until ctx has ended; then no node
// remains. A member leaves with its session.
func join(ctx context.Context, client *framework.Client, group string, n int) error {
	dir, err := client.AbsolutePath(group) // a session takes absolute paths
	if err != nil {
		return err
	}
	for s, err := range client.Sessions(ctx) {
		if err == nil {
			err = joinIn(ctx, s, dir, n)
		}
		if !session.ShouldStartOver(ctx, err) {
			return err
		}
	}
	return nil // not reached: the loop ends with an error, or by joinIn
}

func joinIn(ctx context.Context, s session.Session, dir string, n int) (err error) {
	member, err := s.CreateProtected(ctx, dir, "member-", nil)
	if err != nil {
		return err // no node remains
	}
	defer func() {
		if err != nil {
			s.Remove(member.Path) // goes on in the background
		}
	}()
	waiter := session.NewWaiter()
	watch := s.WatchChildren(dir, waiter.Signal)
	defer watch.Stop()
	for {
		switch view := watch.View(); {
		case view.Status == session.StatusFailed:
			return view.Err
		case view.Status == session.StatusGone:
			return session.ErrNodeDeleted // and the member's node with the directory: join starts over
		case view.Status == session.StatusPresent && len(view.Children) >= n:
			return nil
		}
		if err := waiter.Wait(ctx, s, nil); err != nil {
			return err
		}
	}
}

func Example() {
	server := zktest.NewServer()
	defer server.Close()
	joined := make(chan error)
	for range 3 {
		client, err := framework.NewClient("any:2181", framework.WithDialer(server.DialContext))
		if err != nil {
			log.Fatal(err)
		}
		defer client.Close()
		go func() { joined <- join(context.Background(), client, "/groups/workers", 3) }()
	}
	fmt.Println(<-joined, <-joined, <-joined)
	// Output: <nil> <nil> <nil>
}
