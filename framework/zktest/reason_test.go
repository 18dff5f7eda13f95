package zktest_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gocurator/curator/framework/zktest"
)

func TestClosedConnectionsAreLoggedWithTheReason(t *testing.T) {
	header := func(op int32) string {
		b := binary.BigEndian.AppendUint32([]byte{0, 0, 0, 8, 0, 0, 0, 1}, uint32(op))
		return string(b)
	}
	for reason, raw := range map[string]string{
		"a frame of impossible length": "\xff\xff\xff\xff",
		"half a request header":        "\x00\x00\x00\x02ab",
		"unknown request 1000":         header(1000),
		"half a setAuth":               header(int32(zktest.OpSetAuth)),
		"DropReply":                    header(int32(zktest.OpPing)),
	} {
		zktest.Bubble(t, func(t *testing.T) {
			var log bytes.Buffer
			srv := zktest.NewServer(zktest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			srv.DropReply(zktest.Match{Op: zktest.OpPing})
			nc, _ := attach(t, srv, nil)
			io.WriteString(nc, raw)
			io.Copy(io.Discard, nc)
			nc.Close()
			srv.Close()
			if !strings.Contains(log.String(), reason) {
				t.Errorf("want %q, got %q", reason, &log)
			}
		})
	}
}

func TestClientsThatLeaveAreNotLogged(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var log bytes.Buffer
		srv := zktest.NewServer(zktest.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		nc, _ := attach(t, srv, nil)
		nc.Close()
		synctest.Wait() // the server has seen it leave
		nc, _ = attach(t, srv, nil)
		io.WriteString(nc, "\x00\x00\x00\x08\x00\x00\x00\x01\xff\xff\xff\xf5") // closeSession
		io.Copy(io.Discard, nc)
		nc.Close()
		synctest.Wait()
		srv.Close()
		if log.Len() > 0 {
			t.Error(&log)
		}
	})
}
