package web

import (
	"fmt"
	"net/http"
	"time"
)

// beat is how often a page hears that the server of the page lives, and how old what it shows is, at least.
const beat = 2 * time.Second

// events is the stream of a page: server-sent events. It ends with the page, or with Close.
func (h *Handler) events(w http.ResponseWriter, r *http.Request) {
	lock := r.URL.Query().Get("lock")
	if lock != "" && !h.isBelow(lock) {
		http.Error(w, "no such lock here", http.StatusNotFound)
		return
	}
	if r.ContentLength != 0 { // it would have to be read before the connection can be used again
		http.Error(w, "this request has no body", http.StatusBadRequest)
		return
	}
	p := h.hub.subscribe(lock)
	if p == nil {
		http.Error(w, "closed", http.StatusServiceUnavailable)
		return
	}
	defer h.hub.unsubscribe(p)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold it back
	stream := http.NewResponseController(w)
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for id := 1; ; id++ {
		var text string
		select {
		case m, open := <-p.messages:
			if !open {
				return
			}
			text = fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", id, m.name, m.data)
		case <-alive.C:
			m := h.hub.heartbeat()
			text = fmt.Sprintf("event: %s\ndata: %s\n\n", m.name, m.data)
		case <-r.Context().Done():
			return
		}
		_ = stream.SetWriteDeadline(time.Now().Add(10 * time.Second)) // not all writers have one
		if _, err := w.Write([]byte(text)); err != nil || stream.Flush() != nil {
			return
		}
	}
}
