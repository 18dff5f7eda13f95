package live_test

import (
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/framework/zktest/printtest"
)

func TestNoExportedTypeShowsACredential(t *testing.T) {
	auth := framework.WithAuthorization("digest", []byte(printtest.Credentials))
	bubble(t, func(t *testing.T, w *env) {
		s := w.live()
		must(t, s.AddAuth(t.Context(), "digest", []byte("other:"+printtest.Password)))
		binding, err := s.Bind(func(error) {}, nil)
		must(t, err)
		defer binding.Release()
		watch := s.WatchData("/", func() {})
		defer watch.Stop()
		cfg := live.Config{Transport: transport.Config{
			Auth: []transport.Auth{transport.NewAuth("digest", []byte(printtest.Credentials))},
		}}
		removal := s.Remove("/missing")
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{
			"Session": s, "Config": cfg, "Events": live.Events{}, "Runner": &live.Runner{}, "Traffic": &live.Traffic{},
			"Creation": &live.Creation{Dir: "/", Name: "a"}, "Backlog": live.Backlog{},
		})
		printtest.WantNoCredentials(t, "../../session", map[string]any{
			"Session": s, "Validity": s, "Nodes": s, "Watches": s, "Reads": s,
			"Binding": binding, "Watch": watch, "View": watch.View(), "Removal": removal, "Attachments": &session.Attachments{},
			"CreatedNode": session.CreatedNode{Path: "/"}, "NodeRead": session.NodeRead{},
			"NodePart": session.ReadStat, "CreateMode": session.Ephemeral, "Status": session.StatusGone,
			"ConnectError": &session.ConnectError{}, "DisconnectError": &session.DisconnectError{}, "NoAuthError": &session.NoAuthError{},
			"LossKind": session.LossUnknown, "Explanation": session.Explain(session.ErrClosed), "NodeLoss": s.NodeLost(),
			"ErrorPolicy": session.StandardErrorPolicy, "Waiter": session.NewWaiter(), "Trouble": &session.Trouble{},
			"ChildObserver": session.ChildObserver(nil), "TreeObserver": session.TreeObserver(nil),
			"WatchedNode": session.WatchedNode{Path: "/"},
		})
	}, auth)
}
