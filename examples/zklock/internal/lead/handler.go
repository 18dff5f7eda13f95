package lead

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
)

// Handler answers over HTTP:
//
//	/, /leader     an Answer, with status 200
//	/am-i-leader   the same, with status 503 unless this participant leads
//	/healthz       200 for as long as the process answers; a restart mends neither an outage nor a wait
//
// If loopback is set it answers only those who ask for this machine by such a name, so that no page of another site
// reads who leads through a browser here.
func (e *Elector) Handler(loopback bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, e.Answer()) })
	mux.HandleFunc("GET /leader", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, e.Answer()) })
	mux.HandleFunc("GET /am-i-leader", func(w http.ResponseWriter, _ *http.Request) {
		answer, status := e.Answer(), http.StatusServiceUnavailable
		if answer.Leading {
			status = http.StatusOK
		}
		write(w, status, answer)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, map[string]bool{"ok": true}) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if loopback && !isLoopback(r.Host) {
			http.Error(w, "ask for 127.0.0.1 or localhost; zklock lead -insecure answers by other names", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func isLoopback(host string) bool {
	name := host
	if split, _, err := net.SplitHostPort(host); err == nil {
		name = split
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

func write(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the one who asked may be gone
}
