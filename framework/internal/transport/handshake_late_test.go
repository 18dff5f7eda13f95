package transport_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/zktest"
)

// A lateReader is a connection of which one read, the first being number 1, has its bytes long before it returns.
type lateReader struct {
	net.Conn
	reads, late int
	by          time.Duration
}

func (l *lateReader) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	if l.reads++; l.reads == l.late {
		time.Sleep(l.by)
	}
	return n, err
}

// The alarm that ends a silent connection cannot be taken back once it has rung: what is read after it must not count.
func TestAnAnswerThatIsReadAfterTheConnectionWasGivenUpAttachesNothing(t *testing.T) {
	for name, c := range map[string]lateReader{
		"handshake": {late: 1, by: 3 * time.Second}, // it may take two
		"token":     {late: 2, by: 5 * time.Second}, // the exchange may take four
	} {
		t.Run(name, func(t *testing.T) {
			zktest.Bubble(t, func(t *testing.T) {
				dial := scripted(t, func(conn net.Conn) {
					if !welcome(conn, 7, 12000) {
						return
					}
					if frame, ok := request(conn); ok {
						xid, _ := xidAndOp(frame)
						conn.Write(reply(xid, 0, 0, []byte{0, 0, 0, 0}))
					}
					request(conn)
				})
				_, heard := start(t, func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := dial(ctx, network, address)
					return &lateReader{Conn: conn, late: c.late, by: c.by}, err
				}, func(cfg *transport.Config) { cfg.SASL = oneToken{} })
				eventually(t, "failed", func() bool { return heard.count("failed") > 0 })
				if got := heard.count("attached"); got > 0 {
					t.Errorf("got %d attachments, want none", got)
				}
			})
		})
	}
}
