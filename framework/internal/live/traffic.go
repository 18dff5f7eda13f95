package live

import (
	"context"

	"github.com/gocurator/curator/framework/internal/transport"
)

// Traffic is what one operation has sent and received. It belongs to the goroutine that waits for the answers.
type Traffic struct {
	Sent, Received int64  // bytes, of whole frames
	Server         string // the one that was asked last
}

type trafficKey struct{}

// WithTraffic counts the requests of the returned context, in sessions whose Config says CountTraffic.
func WithTraffic(ctx context.Context, t *Traffic) context.Context {
	return context.WithValue(ctx, trafficKey{}, t)
}

func (t *Traffic) sent(server string, calls []*transport.Call) {
	if t == nil {
		return
	}
	t.Server = server
	for _, c := range calls {
		t.Sent += int64(c.Sent())
	}
}

// received counts the answers to completed calls.
func (t *Traffic) received(calls []*transport.Call) {
	if t == nil {
		return
	}
	for _, c := range calls {
		t.Received += int64(c.Received())
	}
}
