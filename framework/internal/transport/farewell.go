package transport

import (
	"encoding/binary"
	"net"
)

// farewell returns a connection to a server that lives in this process, shakes every hand and answers every request, so
// that go-zookeeper's Close, and every call that still waits in it, returns immediately.
func (t *Transport) farewell() net.Conn {
	client, server := net.Pipe()
	t.wg.Go(func() {
		defer server.Close()
		for first := true; ; first = false {
			request, err := readFrame(server, nil, 2*goZookeeperBuffer)
			if err != nil || len(request) < 12 {
				return
			}
			answer, last := farewellAnswer(request, first)
			if _, err := server.Write(answer); err != nil {
				return
			}
			if first {
				t.noteStubConnected()
			}
			if last {
				return
			}
		}
	})
	return client
}

func farewellAnswer(request []byte, handshake bool) (answer []byte, last bool) {
	var e encoder
	if handshake {
		e.int32(36)
		e.int32(0)
		e.int32(30_000)
		e.int64(1)
		e.bytes(make([]byte, 16))
		return e, false
	}
	xid := int32(binary.BigEndian.Uint32(request[4:]))
	op := int32(binary.BigEndian.Uint32(request[8:]))
	e.int32(headerLen)
	e.int32(xid)
	e.int64(0)
	if op == opClose {
		e.int32(0)
	} else {
		e.int32(-4) // connection loss
	}
	return e, op == opClose
}
