package live

import (
	"context"

	"github.com/gocurator/curator/framework/internal/transport"
)

// A Meter counts the requests of one operation. It belongs to the goroutine that waits for them.
type Meter struct {
	Sent, Received int64  // bytes, of whole frames
	Server         string // the one that was asked last
}

type meterKey struct{}

// WithMeter counts the requests of the returned context, in sessions whose Config says Metered.
func WithMeter(ctx context.Context, m *Meter) context.Context {
	return context.WithValue(ctx, meterKey{}, m)
}

func (m *Meter) sent(server string, calls []*transport.Call) {
	if m == nil {
		return
	}
	m.Server = server
	for _, c := range calls {
		m.Sent += int64(c.Sent())
	}
}

// received counts the answers to completed calls.
func (m *Meter) received(calls []*transport.Call) {
	if m == nil {
		return
	}
	for _, c := range calls {
		m.Received += int64(c.Received())
	}
}
