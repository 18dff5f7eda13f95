package framework_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/internal/clienttest"
)

// A slowSocket takes an hour to close, as TLS takes seconds if its peer does not listen.
type slowSocket struct{ net.Conn }

func (s slowSocket) Close() error {
	time.Sleep(time.Hour)
	return s.Conn.Close()
}

func slowlyClosed(w *env) framework.Option {
	return framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := w.Link.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return slowSocket{conn}, nil
	})
}

func TestASocketThatIsSlowToCloseDelaysNoEndNorClose(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181", slowlyClosed(w))
		s, err := client.Session(t.Context())
		must(t, err)
		ended := make(chan time.Time, 1)
		if _, err := s.Bind(func(error) { ended <- time.Now() }, nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * clienttest.SessionTimeout)
		w.Link.Mute()
		at := <-ended
		if late := at.Sub(s.ValidUntil()); late != 0 {
			t.Errorf("the hold heard of its end %v after its time", late)
		}
		before := time.Now()
		<-s.Done()
		if took := time.Since(before); took > clienttest.SessionTimeout {
			t.Errorf("the session ended %v after its holds", took)
		}
		w.Link.Heal()
		ctx, cancel := context.WithTimeout(t.Context(), clienttest.SessionTimeout)
		defer cancel()
		wantErr(t, client.BlockUntilConnected(ctx))
		wantErr(t, closesWithin(t, client, time.Second))
		time.Sleep(3 * time.Hour) // what is still being closed
	})
}

func TestASocketThatIsSlowToCloseDelaysNoReconnection(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		client := w.Dial("zk:2181", slowlyClosed(w))
		s, err := client.Session(t.Context())
		must(t, err)
		h, err := s.Bind(func(error) {}, nil)
		must(t, err)
		w.Link.Mute()
		time.Sleep(clienttest.SessionTimeout / 2)
		if state := client.State(); state != suspended {
			t.Errorf("the state is %v, though the connection was given up: its reader waits for the socket", state)
		}
		w.Link.Heal()
		time.Sleep(2 * clienttest.SessionTimeout)
		wantErr(t, h.Err())
		wantErr(t, closesWithin(t, client, time.Second))
		time.Sleep(3 * time.Hour)
	})
}

func TestADialerThatDoesNotHeedItsContextHoldsUpNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *env) {
		late := make(chan net.Conn, 1000)
		client := w.Dial("deaf:2181,zk:2181", framework.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			if address != "deaf:2181" {
				return w.Link.DialContext(ctx, network, address)
			}
			time.Sleep(time.Hour)
			ours, theirs := net.Pipe()
			late <- theirs
			return ours, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), clienttest.ConnectionTimeout)
		defer cancel()
		wantErr(t, client.BlockUntilConnected(ctx))
		wantErr(t, closesWithin(t, client, time.Second))

		alone := w.Dial("deaf:2181", framework.WithDialer(func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Hour)
			ours, theirs := net.Pipe()
			late <- theirs
			return ours, nil
		}))
		time.Sleep(2 * clienttest.ConnectionTimeout)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := alone.BlockUntilConnected(ctx)
		wantErr(t, err, context.DeadlineExceeded)
		if !strings.Contains(err.Error(), "the dialer has not returned") {
			t.Errorf("the error is %q", err)
		}
		wantErr(t, closesWithin(t, alone, time.Second))
		time.Sleep(2 * time.Hour)
		if len(late) == 0 {
			t.Fatal("got no call of the dialer, want one")
		}
		close(late)
		for conn := range late {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
				t.Errorf("a connection that came too late is open: %v", err)
			}
		}
	})
}
