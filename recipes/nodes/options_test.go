package nodes_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestWhatIsWrongWithANodeIsAllNamedByStart(t *testing.T) {
	for _, c := range []struct {
		path string
		opts []nodes.Option
		want []string
	}{
		{"services", []nodes.Option{nil, nodes.WithTTL(time.Second)}, []string{`"services"`, "client is nil", "an option is nil", "WithTTL(1s)"}},
		{"/a//b", []nodes.Option{nodes.WithMode(framework.Container)}, []string{`"/a//b"`, "client is nil", "WithMode(Container)"}},
		{"/", []nodes.Option{nodes.WithMode(17)}, []string{"the root is always there", "client is nil", "WithMode(17)"}},
		{"/a", []nodes.Option{nodes.WithMode(-1)}, []string{"client is nil", "WithMode(-1)"}},
		{"/a/", []nodes.Option{nodes.WithMode(framework.PersistentWithTTL)}, []string{`"/a/"`, "client is nil", "WithTTL(0s)"}},
		{"/a", []nodes.Option{nodes.WithMode(framework.PersistentSequentialWithTTL), nodes.WithTTL(time.Millisecond)}, []string{"WithTTL(1ms)"}},
		{"/a", []nodes.Option{nodes.WithMode(framework.Persistent)}, []string{"client is nil", "WithMode(0)", "Overwriting()"}},
		{"/a", []nodes.Option{nodes.WithMode(framework.PersistentWithTTL)}, []string{"WithTTL(0s)", "WithMode(5)", "Overwriting()"}},
		{"/a", []nodes.Option{nodes.WithTTL(-time.Second)}, []string{"client is nil", "WithTTL(-1s)"}},
	} {
		node := nodes.NewPersistentNode(nil, c.path, nil, c.opts...)
		err := node.Start(t.Context())
		if err == nil {
			t.Fatalf("%s: got no error, want one", c.path)
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("got %v, want it to name %s", err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("got several lines, want one: %v", err)
		}
		wantErr(t, node.Err(), nodes.ErrNotStarted)
		wantErr(t, node.Close(), nodes.ErrNotStarted)
	}
	err := nodes.NewPersistentNode(nil, "services", nil).Start(t.Context())
	if !errors.Is(err, framework.ErrInvalidPath) {
		t.Errorf("got %v, want %v", err, framework.ErrInvalidPath)
	}
}
