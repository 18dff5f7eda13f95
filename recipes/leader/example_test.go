package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/leader"
	"github.com/gocurator/curator/recipes/locks"
)

// connect makes a client of an in-memory server; yours will be of "zk1:2181,zk2:2181,zk3:2181".
func connect(server *zktest.Server) *framework.Client {
	client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext))
	if err != nil {
		log.Fatal(err)
	}
	return client
}

// A service leads until it is stopped. In a program, ctx comes from signal.NotifyContext.
func ExampleLeaderSelector_Run() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx, stop := context.WithCancel(context.Background())

	selector := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("host7"))
	err := selector.Run(ctx, func(ctx context.Context) error {
		fmt.Println("leads:", selector.HasLeadership(), leader.LeaseFromContext(ctx).Err())
		stop()
		<-ctx.Done() // also when the term is lost, before another process leads
		fmt.Println("stops")
		return nil
	})
	fmt.Println("resigned:", errors.Is(err, context.Canceled), selector.HasLeadership())
	// Output:
	// leads: true <nil>
	// stops
	// resigned: true false
}

// Campaign gives the term itself, for programs that are not made of a function.
func ExampleLeaderSelector_Campaign() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	selector := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("host7"))
	term, err := selector.Campaign(ctx)
	if err != nil {
		log.Fatal(err)
	}
	leads, err := selector.Leader(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(leads.ID, "leads; the fencing token is the term's:", leads.Token == term.FencingToken())
	fmt.Println("resigned:", term.Release())
	_, err = selector.Leader(ctx)
	fmt.Println("no leader:", errors.Is(err, leader.ErrNoLeader))
	// Output:
	// host7 leads; the fencing token is the term's: true
	// resigned: <nil>
	// no leader: true
}

// Observe follows the leader without taking part in the election.
func ExampleLeaderSelector_Observe() {
	server := zktest.NewServer()
	defer server.Close()
	client, observer := connect(server), connect(server)
	defer client.Close()
	defer observer.Close()
	ctx := context.Background()

	term, err := leader.NewLeaderSelector(client, "/leaders/billing", leader.WithID("host7")).Campaign(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for leads, err := range leader.NewLeaderSelector(observer, "/leaders/billing").Observe(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if leads == (leader.Participant{}) {
			fmt.Println("no leader")
			break
		}
		fmt.Println(leads.ID, "leads")
		if err := term.Release(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// host7 leads
	// no leader
}

// A latch stands for election until it is closed. The program asks whether it leads.
func ExampleLeaderLatch() {
	server := zktest.NewServer()
	defer server.Close()
	client := connect(server)
	defer client.Close()
	ctx := context.Background()

	latch := leader.NewLeaderLatch(client, "/leaders/reports", leader.WithID("host7"))
	heard := make(chan bool, 1)
	latch.OnChange(func(term *locks.Lease) { heard <- term != nil })
	if err := latch.Start(ctx); err != nil {
		log.Fatal(err)
	}
	term, err := latch.Await(ctx)
	if err != nil {
		log.Fatal(err)
	}
	work := term.Context(ctx) // ends before another process leads
	fmt.Println("heard:", <-heard, "leads:", latch.HasLeadership(), work.Err())
	fmt.Println("closed:", latch.Close())
	fmt.Println("heard:", <-heard, "leads:", latch.HasLeadership(), work.Err())
	// Output:
	// heard: true leads: true <nil>
	// closed: <nil>
	// heard: false leads: false context canceled
}
