package commands

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"
)

// serving starts a server at an address of its own.
func serving(config *http.Server) *httptest.Server {
	server := httptest.NewUnstartedServer(nil)
	server.Config = config
	server.Start()
	return server
}

func TestBodyThatDoesNotComeEndsItsConnection(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "no such page") })
	server := serving(webServer(answer, 50*time.Millisecond))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection was open a minute later, want it closed")
	}
}

func TestStreamOutlivesTheLimitOfBodies(t *testing.T) {
	const limit = 50 * time.Millisecond
	stream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-time.After(4 * limit):
			_, _ = io.WriteString(w, "later\n")
		}
	})
	server := serving(webServer(stream, limit))
	defer server.Close()
	response, err := server.Client().Get(server.URL) //nolint:noctx // a test's own server
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if got, err := bufio.NewReader(response.Body).ReadString('\n'); got != "later\n" {
		t.Errorf("got %q and %v, want what the stream sends after the limit", got, err)
	}
}
