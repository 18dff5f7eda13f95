package commands

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/lead"
)

const servingPatience = 50 * time.Millisecond

// ask sends the text of a request, and returns the connection, which a read finds open for at most a minute.
func ask(t *testing.T, address net.Addr, text string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestQuestionWhoseBodyDoesNotComeEndsItsConnection(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") })
	server := serving(answerServer(answer, servingPatience))
	defer server.Close()
	conn := ask(t, server.Listener.Addr(), "GET /leader HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx")
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was open a minute later, want it closed")
	}
}

func TestAnswerThatIsNotReadEndsItsConnection(t *testing.T) {
	failed := make(chan error, 1)
	endless := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				failed <- err
				return
			}
		}
	})
	server := serving(answerServer(endless, servingPatience))
	defer server.Close()
	ask(t, server.Listener.Addr(), "GET /leader HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-failed:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want the end of the patience", err)
		}
	case <-time.After(time.Minute):
		server.CloseClientConnections()
		t.Error("the server wrote for a minute, want that it gives up")
	}
}

func TestLineAfterDroppedOnesSaysHowManyTheyWere(t *testing.T) {
	event := lead.Event{Event: lead.Sees, Name: "pod-1", Dropped: 3}
	for json, want := range map[bool]string{
		false: "the leader is pod-1 (the output was stuck, and 3 lines before this one were dropped)\n",
		true:  `{"event":"sees","at":"0001-01-01T00:00:00Z","name":"pod-1","dropped":3}` + "\n",
	} {
		var out bytes.Buffer
		if err := (&scene{json: json, out: &out}).report(event); err != nil || out.String() != want {
			t.Errorf("JSON %t: got %q and %v, want %q", json, out.String(), err, want)
		}
	}
}
