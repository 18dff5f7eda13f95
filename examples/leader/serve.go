package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/gocurator/curator/examples/internal/demo"
)

// serve is one replica, until ctx ends. SIGTERM ends ctx: the leader stops between two items, resigns, and closes its
// client. The next one leads a round trip later. Without that it would lead after the session timeout.
func serve(ctx context.Context, env *demo.Env, address, id string, pause time.Duration) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return &demo.UsageError{Err: fmt.Errorf("-listen: %w", err)}
	}
	client := env.Client()
	r := newReplica(id, client, pause, env.Say, func(event) {})
	server := &http.Server{Handler: r.handler(), ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	env.Say("%s serves http://%v/readyz", id, listener.Addr())

	err = r.stand(ctx)
	if closed := client.Close(); closed != nil { // before the HTTP server ends, so that /healthz can still report it
		env.Say("%s: %v", id, closed) // what is left is a session without nodes
	}
	answered, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = errors.Join(err, server.Shutdown(answered))
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	if err == nil {
		env.Say("%s has ended in order", id)
	}
	return err
}

// handler answers what an orchestrator asks: /healthz, whether the process should be started again; /readyz, whether it
// serves, and whether it leads. A replica that stands by is ready, and so is one without a connection: an outage of the
// servers would otherwise take all replicas out.
func (r *replica) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		if err := r.client.Err(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, "ok") // a caller that has gone needs no answer
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		role := "standby"
		// by the clock: also while the connection is away, for as long as the term lasts
		if r.selector.HasLeadership() {
			role = "leader"
		}
		_, _ = fmt.Fprintln(w, role)
	})
	return mux
}
