package promises_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// each plays story with each recipe, which has a server and a client of its own.
func each(t *testing.T, story func(t *testing.T, server *zktest.Server, client *framework.Client, s *subject)) {
	t.Helper()
	for i, s := range subjects(nil) {
		t.Run(s.row, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				server := zktest.New(t)
				client, err := framework.NewClient("zktest:2181", framework.WithDialer(server.DialContext),
					framework.WithSessionTimeout(sessionTimeout), framework.WithConnectionTimeout(connectionTimeout))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = client.Close() })
				story(t, server, client, subjects(client)[i])
			})
		})
	}
}

// soon is when whatever a recipe does by itself must be over.
func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*sessionTimeout)
	t.Cleanup(cancel)
	return ctx
}

func TestRecipesOutliveTheirSession(t *testing.T) {
	each(t, func(t *testing.T, server *zktest.Server, client *framework.Client, s *subject) {
		if err := s.begin(soon(t)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			before, err := client.Session(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			server.ExpireSession(before.ID())
			<-before.Done()
			if err := s.works(soon(t)); err != nil {
				t.Fatalf("in the session after %x: got %v, want that it works", before.ID(), err)
			}
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestRecipesStartBeforeTheirServers(t *testing.T) {
	each(t, func(t *testing.T, server *zktest.Server, _ *framework.Client, s *subject) {
		server.RefuseConnections(true)
		time.AfterFunc(connectionTimeout/2, func() { server.RefuseConnections(false) })
		if err := s.begin(soon(t)); err != nil {
			t.Fatal(err)
		}
		if err := s.works(soon(t)); err != nil {
			t.Error(err)
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
}

// The client is still open when the recipe has ended, so that nothing is hidden by the end of the session. The bubble
// finds goroutines that outlive the client.
func TestRecipesLeaveNoNodeAndNoWatch(t *testing.T) {
	each(t, func(t *testing.T, server *zktest.Server, _ *framework.Client, s *subject) {
		if err := s.begin(soon(t)); err != nil {
			t.Fatal(err)
		}
		if err := s.works(soon(t)); err != nil {
			t.Fatal(err)
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		for _, session := range server.Sessions() {
			if len(session.Ephemerals) > 0 {
				t.Errorf("got the nodes %q, want none", session.Ephemerals)
			}
		}
		if left := server.ListWatches(); len(left) > 0 {
			t.Errorf("got the watches %v, want none", left)
		}
	})
}

func TestClosesArePromptAndReportWhatStays(t *testing.T) {
	each(t, func(t *testing.T, server *zktest.Server, _ *framework.Client, s *subject) {
		if err := s.begin(soon(t)); err != nil {
			t.Fatal(err)
		}
		server.Freeze()
		defer server.Unfreeze()
		start := time.Now()
		err := s.end()
		if took := time.Since(start); took > connectionTimeout+100*time.Millisecond {
			t.Errorf("it took %v at a frozen server, want at most %v", took, connectionTimeout)
		}
		if (s.stays != "") != (err != nil) || !strings.Contains(fmt.Sprint(err), s.stays) {
			t.Errorf("got %v, want an error that names %q if that stays", err, s.stays)
		}
	})
}

func TestRecipesSayWhatTheyAre(t *testing.T) {
	each(t, func(t *testing.T, _ *zktest.Server, _ *framework.Client, s *subject) {
		if err := s.begin(soon(t)); err != nil {
			t.Fatal(err)
		}
		text := s.value.String()
		for name, got := range map[string]string{"String": text, "a log": slog.AnyValue(s.value).Resolve().String()} {
			if !strings.Contains(got, s.names) {
				t.Errorf("%s has %q, want %s in it", name, got, s.names)
			}
		}
		for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(format, s.value); got != text {
				t.Errorf("%s prints %q, want %q", format, got, text)
			}
		}
		if err := s.end(); err != nil {
			t.Error(err)
		}
	})
}
