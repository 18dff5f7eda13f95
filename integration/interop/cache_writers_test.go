//go:build linux

package interop_test

import (
	"fmt"
	"log/slog"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
)

// A writer creates a node with its parents or sets its data; with nil for data, it deletes the node with all below it.
// It fails where other writers have been faster, or its session has ended.
type writer func(node string, data *string)

func (w *world) javaWriter() writer {
	w.t.Helper()
	c := w.client(java)
	return func(node string, data *string) {
		<-c.process.Order(godriver.Order{Op: "write", Client: c.name, Node: node, Data: data})
	}
}

// ourWriter creates nodes of a kind, and their parents as lasting ones.
func (w *world) ourWriter(client *framework.Client, mode framework.CreateMode) writer {
	return func(node string, data *string) {
		if data == nil {
			_ = client.Delete(w.t.Context(), node, -1, framework.DeletingChildrenIfNeeded())
			return
		}
		_, _, _ = client.Create(w.t.Context(), node, []byte(*data),
			framework.OrSetData(-1), framework.CreatingParentsIfNeeded(), framework.WithMode(mode))
	}
}

// ourClient connects a client of this library, in this process.
func (w *world) ourClient(addr string) *framework.Client {
	w.t.Helper()
	client, err := framework.NewClient(addr, framework.WithSessionTimeout(w.timeout), framework.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if err := client.Close(); err != nil {
			w.t.Errorf("close the client: %v", err)
		}
	})
	return client
}

// sessionOf returns the session of a client, when it is connected.
func (w *world) sessionOf(client *framework.Client) string {
	w.t.Helper()
	ctx, cancel := await.Context(w.t.Context(), w.t, patience, "our client to connect")
	defer cancel()
	s, err := client.Session(ctx)
	if err != nil {
		w.t.Fatalf("session of our client: %v", err)
	}
	return fmt.Sprint(uint64(s.ID()))
}
