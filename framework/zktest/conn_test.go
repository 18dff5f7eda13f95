package zktest_test

import (
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestCutAllIsSeenAsAResetAndNotAsAnEOF(t *testing.T) {
	for name, dial := range map[string]func(srv *zktest.Server) (net.Conn, error){
		"in memory": func(srv *zktest.Server) (net.Conn, error) { return srv.Dial("", "", 0) },
		"over TCP":  func(srv *zktest.Server) (net.Conn, error) { return net.Dial("tcp", srv.Addr()) },
	} {
		t.Run(name, func(t *testing.T) {
			srv := zktest.NewServer()
			defer srv.Close()
			for round := range 1000 {
				nc := must[net.Conn](t)(dial(srv))
				handshakeAs(t, nc, nil)
				// The answer to it keeps the writer of the server awake.
				if _, err := nc.Write(request(zktest.OpSync, "/")); err != nil {
					t.Fatal(err)
				}
				srv.CutAll()
				nc.SetReadDeadline(time.Now().Add(time.Minute))
				if _, err := io.Copy(io.Discard, nc); !errors.Is(err, syscall.ECONNRESET) {
					t.Fatalf("round %d: read %v, want %v", round, err, syscall.ECONNRESET)
				}
				nc.Close()
			}
		})
	}
}
