package kratosregistry_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-kratos/kratos/v2"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// Outside of a bubble: an App listens to the signals of its process.
func TestServiceOfAnAppIsThereWhileItRuns(t *testing.T) {
	zk := zktest.New(t)
	ours := services(t, zk.DialContext)
	started := make(chan struct{})
	app := kratos.New(kratos.Context(t.Context()), kratos.Name("hello"), kratos.ID("a"), kratos.Registrar(ours),
		kratos.AfterStart(func(context.Context) error { close(started); return nil }))
	ended := make(chan error, 1)
	go func() { ended <- app.Run() }()
	f := follow(t, ours)
	if got := await.Receive(t, 10*time.Second, "the service", f.heard); got != "a" {
		t.Errorf("while the app runs: got %q, want a", got)
	}
	await.Receive(t, 10*time.Second, "the end of the registration", started)
	if err := app.Stop(); err != nil {
		t.Errorf("Stop: got %v, want nil", err)
	}
	if err := await.Receive(t, 10*time.Second, "the app's end", ended); err != nil {
		t.Errorf("Run: got %v, want nil", err)
	}
	if got := await.Receive(t, 10*time.Second, "the service's end", f.heard); got != "" {
		t.Errorf("after the app's end: got %q, want no instance", got)
	}
}
