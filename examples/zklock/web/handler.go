// Package web shows locks in a browser: who holds them, who waits, and how often they change hands. Its Handler is what
// zklock serve serves, and can be a part of any program's own server.
package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"embed"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/session"
	"github.com/gocurator/curator/recipes/locks"
)

//go:embed page.html page.js view.js page.css icon.svg
var page embed.FS

// Options say what a Handler shows, and to whom. Client must be set.
type Options struct {
	Client *framework.Client
	Root   string        // locks at and below this path are shown; / if empty
	Every  time.Duration // how often to look; a second if zero
	// Servers is the connect string of the servers that the page asks by four-letter commands. If it is empty, its view
	// of servers and findings has what doctor finds in locks alone.
	Servers string
	TLS     *tls.Config // for these commands; nil is in the clear
	// Logs are directories with transaction logs and snapshots of the servers, from which the page of a lock shows its
	// last hour; none shows no past. The chroot is that of Servers. A directory that cannot be read, or not now, is
	// named there; one that hangs keeps one goroutine waiting, also after Close.
	Logs []string
	// AllowRevoke lets users ask holders to leave. It needs the permission to write the nodes.
	AllowRevoke bool
	HideData    bool // do not show what nodes contain
	// Hosts are the names under which the page may be asked for, without ports. A request with another Host header is
	// refused, since a stranger's page can give its own name this server's address. Without any they are localhost and
	// loopback addresses.
	Hosts []string
	// User and Password are asked of every request, if User is not empty.
	User, Password string
	Logger         *slog.Logger // for revocations; nil is none
}

// A Handler serves the page and its events. It reads from the servers only while a page is open. Close ends it. Its
// methods are safe for concurrent use.
type Handler struct {
	options Options
	hub     *hub
	doctor  *physician
	routes  http.Handler

	historian *historian
}

// New returns a handler. It does no I/O. The page uses relative addresses, so http.StripPrefix can put it below a path.
func New(options Options) (*Handler, error) {
	if options.Client == nil {
		return nil, errors.New("web: no client")
	}
	if options.Root == "" {
		options.Root = "/"
	}
	if err := session.ValidatePath(options.Root); err != nil {
		return nil, err
	}
	if options.Every <= 0 {
		options.Every = time.Second
	}
	h := &Handler{options: options, hub: newHub(options), doctor: newPhysician(options)}
	h.historian = newHistorian(options, h.hub.hidden)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.file("page.html", "text/html; charset=utf-8"))
	mux.HandleFunc("GET /page.js", h.file("page.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /view.js", h.file("view.js", "text/javascript; charset=utf-8"))
	mux.HandleFunc("GET /icon.svg", h.file("icon.svg", "image/svg+xml"))
	mux.HandleFunc("GET /findings", h.findings)
	mux.HandleFunc("GET /page.css", h.file("page.css", "text/css; charset=utf-8"))
	mux.HandleFunc("GET /events", h.events)
	mux.HandleFunc("GET /lock", h.lock)
	mux.HandleFunc("GET /history", h.past)
	mux.HandleFunc("POST /revoke", h.revoke)
	h.routes = h.guard(http.NewCrossOriginProtection().Handler(mux))
	return h, nil
}

// Close ends every stream of events, and waits until nothing reads any more but requests that are still under way.
func (h *Handler) Close() {
	h.doctor.close()
	h.hub.close()
}

// ServeHTTP serves the page.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.routes.ServeHTTP(w, r) }

// bodyLimit is how long a request's body may take.
const bodyLimit = 10 * time.Second

// guard refuses requests by other names, or without the password, and says what a browser may do with the answers.
func (h *Handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		if !h.isOurs(r.Host) {
			http.Error(w, "this server is not called "+survey.Cut(survey.Printable(r.Host), 80)+"; zklock serve -host names it", http.StatusForbidden)
			return
		}
		if h.options.User != "" && !h.mayEnter(r) {
			header.Set("WWW-Authenticate", `Basic realm="zklock"`)
			http.Error(w, "a user and a password are needed", http.StatusUnauthorized)
			return
		}
		if r.ContentLength != 0 { // not all servers' writers have deadlines
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyLimit))
		}
		next.ServeHTTP(w, r)
	})
}

func (h *Handler) isOurs(host string) bool {
	name := host
	if split, _, err := net.SplitHostPort(host); err == nil {
		name = split
	}
	name = strings.Trim(name, "[]")
	if len(h.options.Hosts) > 0 {
		return slices.ContainsFunc(h.options.Hosts, func(ours string) bool { return strings.EqualFold(ours, name) })
	}
	ip := net.ParseIP(name)
	return strings.EqualFold(name, "localhost") || ip != nil && ip.IsLoopback()
}

// mayEnter compares digests, so that the time it takes reveals nothing.
func (h *Handler) mayEnter(r *http.Request) bool {
	user, password, _ := r.BasicAuth()
	got, want := sha256.Sum256([]byte(user+"\x00"+password)), sha256.Sum256([]byte(h.options.User+"\x00"+h.options.Password))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func (h *Handler) file(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		text, err := page.ReadFile(name)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(text) // the browser may be gone
	}
}

// lock answers what stands at one, as JSON.
func (h *Handler) lock(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Query().Get("path")
	if !h.isBelow(path) {
		http.Error(w, "no such lock here", http.StatusNotFound)
		return
	}
	lock, err := survey.Read(r.Context(), h.options.Client, path)
	switch {
	case errors.Is(err, survey.ErrNoLock):
		http.Error(w, err.Error(), http.StatusNotFound)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadGateway)
	default:
		answer(w, h.hub.show(lock, nil))
	}
}

// isBelow reports whether a path is at or below the root.
func (h *Handler) isBelow(path string) bool {
	root := strings.TrimSuffix(h.options.Root, "/")
	return session.ValidatePath(path) == nil && (path == h.options.Root || strings.HasPrefix(path, root+"/"))
}

// revoke asks the holder with a node to leave. The request repeats the node's name, which the user has typed.
func (h *Handler) revoke(w http.ResponseWriter, r *http.Request) {
	if !h.options.AllowRevoke {
		http.Error(w, "this page only reads; zklock serve -allow-revoke changes that", http.StatusForbidden)
		return
	}
	var asked struct{ Path, Node string }
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&asked); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // otherwise the deadline ends the request's context
	if !h.isBelow(asked.Path) {
		http.Error(w, "no such lock here", http.StatusNotFound)
		return
	}
	lock, err := survey.Read(r.Context(), h.options.Client, asked.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	at := slices.IndexFunc(lock.Contenders, func(c survey.Contender) bool { return c.Node == asked.Node })
	switch {
	case at < 0 || !lock.Contenders[at].In():
		http.Error(w, "that node does not hold the lock any more", http.StatusConflict)
		return
	case lock.Contenders[at].State == survey.Leads:
		http.Error(w, "a LeaderLatch cannot be asked to leave", http.StatusConflict)
		return
	}
	if err := locks.AttemptRevoke(r.Context(), h.options.Client, lock.Contenders[at].Path); err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	if h.options.Logger != nil {
		user, _, _ := r.BasicAuth()
		h.options.Logger.Info("asked a holder to leave", "path", lock.Contenders[at].Path, "user", user, "from", r.RemoteAddr)
	}
	answer(w, map[string]bool{"asked": true})
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // the browser may be gone
}
