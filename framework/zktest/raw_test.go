package zktest_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

// attach opens a raw connection; session is an id with its password as an
// earlier attach returned it, nil for a new one.
func attach(tb testing.TB, srv *zktest.Server, session []byte) (nc net.Conn, id []byte) {
	tb.Helper()
	nc, err := srv.Dial("", "", 0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { nc.Close() })
	return nc, handshakeAs(tb, nc, session)
}

func handshakeAs(tb testing.TB, nc net.Conn, session []byte) []byte {
	tb.Helper()
	if session == nil {
		session = make([]byte, 24)
	}
	b := binary.BigEndian.AppendUint32(nil, 44)
	b = append(b, make([]byte, 12)...)
	b = binary.BigEndian.AppendUint32(b, 60000)
	b = append(b, session[:8]...)
	b = append(binary.BigEndian.AppendUint32(b, 16), session[8:]...)
	if _, err := nc.Write(b); err != nil {
		tb.Fatal(err)
	}
	in := make([]byte, 40)
	if _, err := io.ReadFull(nc, in); err != nil {
		tb.Fatal(err)
	}
	return append(in[12:20:20], in[24:]...)
}

// answered sends a request and reports whether an answer without error came.
func answered(nc net.Conn, req []byte) bool {
	nc.Write(req)
	nc.SetReadDeadline(time.Now().Add(10 * time.Second))
	head := make([]byte, 20)
	if _, err := io.ReadFull(nc, head); err != nil {
		return false
	}
	io.CopyN(io.Discard, nc, int64(binary.BigEndian.Uint32(head))-16)
	return binary.BigEndian.Uint32(head[16:]) == 0
}
