package framework_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
	"github.com/gocurator/curator/framework/zktest"
)

func TestATransactionDoesAllItsParts(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		app := w.Client.UsingNamespace("app")
		w.Make("/app")
		w.Make("/app/old")
		w.Make("/app/set")
		results, err := app.Transaction(t.Context(),
			framework.CheckOp("/set", 0),
			framework.CreateOp("/new-", []byte("x"), framework.WithMode(framework.EphemeralSequential)),
			framework.SetOp("/set", []byte("y"), 0),
			framework.DeleteOp("/old", -1),
			framework.CheckOp("/app/set", 1).Absolute())
		must(t, err)
		if len(results) != 5 || results[1].Path != "/new-0000000002" || results[2].Stat == nil || results[2].Stat.Version != 1 {
			t.Errorf("got %+v", results)
		}
		if w.Server.Exists("/app/old") || !w.Server.Exists("/app/new-0000000002") {
			t.Errorf("there is %q", w.Server.Children("/app"))
		}
	})
}

func TestATransactionNamesThePartThatFailed(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Make("/a")
		_, err := w.Client.Transaction(t.Context(),
			framework.SetOp("/a", []byte("changed"), -1),
			framework.CheckOp("/no", -1),
			framework.DeleteOp("/a", -1))
		wantErr(t, err, zk.ErrNoNode)
		var failed *framework.TransactionError
		if !errors.As(err, &failed) || failed.Index != 1 || failed.Op != "check" || failed.Path != "/no" {
			t.Errorf("got %#v", err)
		}
		if data, _ := w.Server.Data("/a"); string(data) != "1" {
			t.Errorf("got data %q, want 1: nothing of a failed transaction is done", data)
		}
	})
}

// A namespace's own node is one that the caller of a transaction never names.
func TestATransactionNamesTheParentThatIsMissing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Client.UsingNamespace("new")
		for _, op := range []framework.Op{framework.CreateOp("/a", nil), framework.CreateOp("/new/a", nil).Absolute()} {
			_, err := client.Transaction(t.Context(), op)
			wantErr(t, err, zk.ErrNoNode)
			if want := `"/new" has to be made before`; !strings.Contains(err.Error(), want) {
				t.Errorf("got %q, want it to contain %q", err, want)
			}
		}
		_, err := client.Transaction(t.Context(), framework.SetOp("/a", nil, -1))
		wantErr(t, err, zk.ErrNoNode)
		if strings.Contains(err.Error(), "/new") {
			t.Errorf("got %q, want no word of a parent: the part changes a node", err)
		}
	})
}

func TestATransactionThatCannotBeIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		mine := errors.New("mine")
		for name, op := range map[string]framework.Op{
			"path":       framework.CheckOp("a", -1),
			"mode":       framework.CreateOp("/a", nil, framework.WithMode(framework.Container)),
			"protection": framework.CreateOp("/a", nil, framework.WithProtection()),
			"parents":    framework.CreateOp("/a", nil, framework.CreatingParentsIfNeeded()),
			"own error":  framework.Op{}.Failing(mine),
		} {
			_, err := w.Client.Transaction(t.Context(), framework.CheckOp("/", -1), op)
			var failed *framework.TransactionError
			if !errors.As(err, &failed) || failed.Index != 1 {
				t.Errorf("%s: %v", name, err)
			}
			if name == "own error" {
				wantErr(t, err, mine)
			}
		}
		if n := w.Count(zktest.OpMulti); n != 0 {
			t.Errorf("%d were sent", n)
		}
	})
}

func TestATransactionWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Server.DropReply(zktest.Match{Op: zktest.OpMulti})
		_, err := w.Client.Transaction(t.Context(), framework.CreateOp("/n-", nil, framework.WithMode(framework.PersistentSequential)))
		wantErr(t, err, framework.ErrConnectionLost)
		time.Sleep(time.Minute)
		if n := w.Count(zktest.OpMulti); n != 1 {
			t.Errorf("it was sent %d times", n)
		}
	})
}

func TestATransactionThatWasNotSentWaitsForTheConnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		w.Link.Cut()
		time.Sleep(time.Second)
		go func() {
			time.Sleep(clienttest.SessionTimeout / 4)
			w.Link.Heal()
		}()
		if _, err := w.Client.Transaction(t.Context(), framework.CreateOp("/n", nil)); err != nil {
			t.Error(err)
		}
	})
}

func TestAnEmptyTransactionSucceeds(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		if results, err := w.Client.Transaction(t.Context()); err != nil || len(results) != 0 {
			t.Errorf("%v, %v", results, err)
		}
	})
}

func TestErrorsSayWhatWhereAndWhy(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		_, _, err := w.Client.UsingNamespace("app").Get(t.Context(), "/no")
		if want := `framework: get "/no": `; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q does not begin with %q", err, want)
		}
		_, err = w.Client.Transaction(t.Context(), framework.DeleteOp("/no", -1))
		if want := `framework: transaction: part 0 (delete "/no"): `; !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q does not begin with %q", err, want)
		}
	})
}
