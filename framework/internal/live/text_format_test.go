package live_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/live"
	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest/printtest"
)

func TestNoExportedTypeShowsACredential(t *testing.T) {
	auth := framework.WithAuthorization("digest", []byte(printtest.Credentials))
	bubble(t, func(t *testing.T, w *env) {
		s := w.Session()
		if err := s.AddAuth(t.Context(), "digest", []byte("other:"+printtest.Password)); err != nil {
			t.Fatal(err)
		}
		binding, err := s.Bind(func(error) {}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer binding.Release()
		watch := s.WatchData("/", func() {})
		defer s.Unwatch(watch)
		cfg := live.Config{Transport: transport.Config{
			Auth: []transport.Auth{transport.NewAuth("digest", []byte(printtest.Credentials))},
		}}
		removal := s.Remove("/missing")
		synctest.Wait() // no goroutine of the client writes while fields are read
		printtest.WantNoCredentials(t, ".", map[string]any{
			"Session": s, "Binding": binding, "Watch": watch, "View": s.View(watch), "Removal": removal,
			"Config": cfg, "Events": live.Events{}, "Owner": &live.Owner{}, "Attachments": &live.Attachments{},
			"Creation": &live.Creation{Dir: "/", Name: "a"}, "Entry": live.Entry{Path: "/"},
			"CreateMode": live.Ephemeral, "Leftovers": live.Leftovers{}, "Meter": &live.Meter{},
			"ConnectError": &live.ConnectError{}, "HangUpError": &live.HangUpError{}, "NoAuthError": &live.NoAuthError{},
			"ErrorPolicy": live.StandardErrorPolicy, "Status": live.StatusGone,
			"ChildObserver": live.ChildObserver(nil), "TreeObserver": live.TreeObserver(nil), "Waiter": live.NewWaiter(),
		})
	}, auth)
}

// text is printed as every type with a Format method of this library is.
type text string

func (x text) Format(f fmt.State, verb rune) { live.FormatText(f, verb, string(x)) }

func TestFormatTextWritesTheTextByEveryVerb(t *testing.T) {
	for format, want := range map[string]string{
		"%v": "a lock", "%+v": "a lock", "%#v": "a lock", "%s": "a lock", "%d": "a lock", "%t": "a lock", "%08.3f": "00000a l",
		"%q": `"a lock"`, "%x": "61206c6f636b", "%X": "61206C6F636B", "%8v|": "  a lock|", "%-8s|": "a lock  |",
	} {
		if got := fmt.Sprintf(format, text("a lock")); got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}
