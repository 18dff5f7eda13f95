//go:build unix

package zookeeper

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// EndSession takes a session over from its client, at the server with this address, and closes it. The client may take
// it back in between: then EndSession tries again, 100 times. A server that takes longer than two minutes is an
// os.ErrDeadlineExceeded.
func EndSession(addr string, id int64) error {
	for tries := 1; ; tries++ {
		err := closeSession(addr, id)
		switch {
		case err == nil, tries > 1 && errors.Is(err, errNotTakenOver):
			return nil // in the second case the answer to the closing was lost
		case tries == 100, !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, syscall.EPIPE):
			return err
		}
	}
}

var errNotTakenOver = errors.New("the session could not be taken over")

// closeSession tries once. A session's password is no secret: ZooKeeper derives it from the id.
func closeSession(addr string, id int64) error {
	conn, err := net.DialTimeout("tcp", addr, startTimeout)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(startTimeout)); err != nil {
		return err
	}
	const protocol, lastZxid, timeout, passwordLength, xid, closeSession = 0, 0, 60_000, 16, 1, -11
	connect := binary.BigEndian.AppendUint32(nil, protocol)
	connect = binary.BigEndian.AppendUint64(connect, lastZxid)
	connect = binary.BigEndian.AppendUint32(connect, timeout)
	connect = binary.BigEndian.AppendUint64(connect, uint64(id))
	connect = binary.BigEndian.AppendUint32(connect, passwordLength)
	connect = append(connect, password(id)...)
	answer, err := roundTrip(conn, connect)
	if err != nil {
		return err
	}
	if len(answer) < 16 || binary.BigEndian.Uint64(answer[8:]) != uint64(id) {
		return errNotTakenOver
	}
	code := int32(closeSession)
	end := binary.BigEndian.AppendUint32(nil, xid)
	_, err = roundTrip(conn, binary.BigEndian.AppendUint32(end, uint32(code)))
	return err
}

// roundTrip sends one frame and returns the answer.
func roundTrip(conn net.Conn, request []byte) ([]byte, error) {
	if _, err := conn.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(request))), request...)); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(size[:])&0xffff)
	_, err := io.ReadFull(conn, answer)
	return answer, err
}

// password is what SessionTrackerImpl gives a session: 16 bytes of java.util.Random, seeded with its id.
func password(id int64) []byte {
	const secret, multiplier, mask = 0xB3415C00, 0x5DEECE66D, 1<<48 - 1
	seed := (uint64(id) ^ secret ^ multiplier) & mask
	var p []byte
	for range 4 {
		seed = (seed*multiplier + 0xB) & mask
		p = binary.LittleEndian.AppendUint32(p, uint32(seed>>16))
	}
	return p
}
