package locks_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/internal/malformtest"
)

// transactionStory is a client that makes, sets and checks nodes in one transaction.
func transactionStory() *malformtest.Story {
	// A server that says so has not executed the request: it is sent again.
	unexecuted := []string{"code is -112", "code is -118", "code is -127"}
	return &malformtest.Story{
		Setup: func(r *malformtest.Run) {
			if err := r.Server.Create("/t", nil); err != nil {
				r.T.Fatal(err)
			}
		},
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			_, err := transact(ctx, r, "/t")
			for errors.Is(err, framework.ErrConnectionLost) { // by what was spoiled before
				time.Sleep(time.Second)
				_, err = transact(ctx, r, "/t")
			}
			return err
		},
		Parts: malformtest.ForLong(
			malformtest.Part{
				Name: "succeeding", Live: transacts("/t"), Kinds: []string{malformtest.FrameMulti},
				Only: func(m malformtest.Malformation) bool { return !slices.Contains(unexecuted, m.Name) },
			},
			malformtest.Part{Name: "failing", Live: transacts("/missing"), Kinds: []string{malformtest.FrameMulti}},
		),
	}
}

func transact(ctx context.Context, r *malformtest.Run, checked string) ([]framework.Result, error) {
	return r.Client.Transaction(ctx,
		framework.CreateOp("/t/n-", nil, framework.WithMode(framework.PersistentSequential)),
		framework.CheckOp(checked, -1),
		framework.SetOp("/t", []byte("x"), -1))
}

// transacts compares what the client says of a transaction with the nodes that it has made.
func transacts(checked string) func(r *malformtest.Run) {
	return func(r *malformtest.Run) {
		r.Arm()
		var results []framework.Result
		err := r.Bounded("Transaction", malformtest.SpoilTime, func(ctx context.Context) (err error) {
			results, err = transact(ctx, r, checked)
			return err
		})
		made := r.Server.Children("/t")
		var failed *framework.TransactionError
		switch {
		case len(made) > 1:
			r.Bad(malformtest.OutcomeFalse, "the transaction was executed %d times", len(made))
		case err == nil && (len(made) != 1 || len(results) != 3 || results[0].Path != "/t/"+made[0] || results[2].Stat == nil):
			r.Bad(malformtest.OutcomeFalse, "got %+v, want the node of %q", results, made)
		case errors.As(err, &failed) && len(made) > 0:
			r.Bad(malformtest.OutcomeFalse, "got %v, but %q was made", err, made)
		case err != nil && strings.Contains(err.Error(), "\n"):
			r.Bad(malformtest.OutcomeFalse, "got an error of several lines: %v", fmt.Sprintf("%q", err))
		}
	}
}
