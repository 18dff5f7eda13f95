package web

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/doctor"
	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

const (
	// findingsAge is for how long findings are shown to further pages: an examination reads every contender.
	findingsAge = 10 * time.Second
	// serverLimit is how long each server has for its answers.
	serverLimit = 3 * time.Second
	// manyLocks is how many locks of one session are worth a look.
	manyLocks = 100
)

// Findings are what doctor says about the locks and the servers.
type Findings struct {
	At       time.Time        `json:"time"`
	Findings []doctor.Finding `json:"findings"`
	Failed   string           `json:"failed,omitempty"` // why the locks were not examined
}

// A physician examines for all pages, when one asks.
type physician struct {
	options Options
	ctx     context.Context //nolint:containedctx // until Close: an examination is for all pages
	close   context.CancelFunc

	mu   sync.Mutex
	last Findings
}

func newPhysician(options Options) *physician {
	p := &physician{options: options}
	p.ctx, p.close = context.WithCancel(context.Background())
	return p
}

// examine returns the last findings, or new ones if they are old. It blocks for some seconds; requests that come
// meanwhile wait for the same examination.
func (p *physician) examine() Findings {
	p.mu.Lock()
	defer p.mu.Unlock()
	if time.Since(p.last.At) < findingsAge {
		return p.last
	}
	ctx, cancel := context.WithTimeout(p.ctx, 2*serverLimit)
	defer cancel()
	begun := Findings{At: time.Now(), Findings: []doctor.Finding{}}
	locks, err := doctor.Locks(ctx, p.options.Client, p.options.Root, manyLocks, p.options.HideData)
	if err != nil {
		begun.Failed = plain(err)
	}
	begun.Findings = append(begun.Findings, locks...)
	if p.options.Servers != "" {
		asked, err := fourletter.Find(ctx, p.options.Servers, p.options.TLS, serverLimit)
		if err != nil {
			asked, begun.Findings = nil, append(begun.Findings, doctor.Finding{Level: doctor.Wrong, About: "DNS", What: err.Error()})
		}
		granted := time.Duration(0)
		if s, err := p.options.Client.Session(ctx); err == nil {
			granted = s.Timeout()
		}
		servers, _ := doctor.Servers(ctx, asked, granted, serverLimit)
		begun.Findings = append(begun.Findings, servers...)
	}
	p.last = begun
	return begun
}

// findings answers what doctor finds, as JSON.
func (h *Handler) findings(w http.ResponseWriter, _ *http.Request) {
	answer(w, h.doctor.examine())
}
