package lead_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// request returns the status and the members of an answer.
func request(t *testing.T, handler http.Handler, method, host, path string) (status int, body map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
	r.Host = host
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	_ = json.Unmarshal(w.Body.Bytes(), &body) // a refusal is text
	return w.Code, body
}

func TestStatusOfAmILeaderFollowsTheLease(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := zktest.New(t)
		a, b := stand(t, server, "a", false), stand(t, server, "b", false)
		a.until(true)
		want := func(when string, p *participant, path string, status int, members map[string]any) {
			t.Helper()
			got, body := request(t, p.Handler(true), http.MethodGet, "localhost:4040", path)
			if got != status {
				t.Errorf("%s: %s of %s: got status %d, want %d", when, path, p.Answer().Me, got, status)
			}
			for name, value := range members {
				if body[name] != value {
					t.Errorf("%s: %s of %s: got %v, want %s to be %v", when, path, p.Answer().Me, body, name, value)
				}
			}
		}
		yes := map[string]any{"name": "a", "me": "a", "leading": true, "valid_for_ms": 2000.0, "connected": true}
		other := map[string]any{"name": "a", "me": "b", "leading": false, "valid_for_ms": 0.0, "connected": true}
		for _, path := range []string{"/", "/leader", "/am-i-leader"} {
			want("in peace", a, path, http.StatusOK, yes)
		}
		want("in peace", b, "/leader", http.StatusOK, other)
		want("in peace", b, "/", http.StatusOK, other)
		want("in peace", b, "/am-i-leader", http.StatusServiceUnavailable, other)
		a.link.Cut()
		a.until(false)
		want("cut off", a, "/leader", http.StatusOK, map[string]any{"name": "", "leading": false, "connected": false})
		want("cut off", a, "/am-i-leader", http.StatusServiceUnavailable, nil)
		want("cut off", a, "/healthz", http.StatusOK, map[string]any{"ok": true})
		b.until(true)
		want("after it", b, "/am-i-leader", http.StatusOK, map[string]any{"name": "b"})
		if got := b.Answer(); got.Since == nil || time.Since(*got.Since) > time.Second || got.Token == 0 {
			t.Errorf("got %+v, want a term that has just begun, and its token", got)
		}
	})
}

func TestHandlerRefusesWhatItDoesNotServe(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		p := stand(t, zktest.New(t), "a", false)
		for _, c := range []struct {
			loopback           bool
			method, host, path string
			want               int
		}{
			{true, http.MethodGet, "127.0.0.1:4040", "/healthz", http.StatusOK},
			{true, http.MethodGet, "[::1]:4040", "/healthz", http.StatusOK},
			{true, http.MethodGet, "LOCALHOST", "/healthz", http.StatusOK},
			{true, http.MethodHead, "localhost", "/leader", http.StatusOK},
			{true, http.MethodGet, "rebound.example:4040", "/leader", http.StatusForbidden},
			{true, http.MethodGet, "10.0.0.7", "/leader", http.StatusForbidden},
			{true, http.MethodGet, "", "/leader", http.StatusForbidden},
			{false, http.MethodGet, "10.0.0.7:4040", "/leader", http.StatusOK},
			{true, http.MethodPost, "localhost", "/leader", http.StatusMethodNotAllowed},
			{true, http.MethodGet, "localhost", "/leaders", http.StatusNotFound},
		} {
			if got, _ := request(t, p.Handler(c.loopback), c.method, c.host, c.path); got != c.want {
				t.Errorf("%s %q%s, loopback %t: got %d, want %d", c.method, c.host, c.path, c.loopback, got, c.want)
			}
		}
	})
}
