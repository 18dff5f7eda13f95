//go:build linux

package interop_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// closeSession takes a session over and closes it. Its password is no secret: ZooKeeper derives it from the id.
func closeSession(addr, session string) error {
	id, err := strconv.ParseUint(session, 10, 64)
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	connect := binary.BigEndian.AppendUint32(nil, 0)    // protocol version
	connect = binary.BigEndian.AppendUint64(connect, 0) // last zxid seen
	connect = binary.BigEndian.AppendUint32(connect, uint32(sessionTimeout.Milliseconds()))
	connect = binary.BigEndian.AppendUint64(connect, id)
	connect = binary.BigEndian.AppendUint32(connect, 16)
	connect = append(connect, password(int64(id))...)
	answer, err := exchange(conn, connect)
	if err != nil {
		return err
	}
	if len(answer) < 16 || binary.BigEndian.Uint64(answer[8:]) != id {
		return errNotTakenOver
	}
	const closeSession = -11
	end := binary.BigEndian.AppendUint32(nil, 1) // xid
	_, err = exchange(conn, binary.BigEndian.AppendUint32(end, 0xffffffff+closeSession+1))
	return err
}

var errNotTakenOver = errors.New("the session could not be taken over")

func exchange(conn net.Conn, request []byte) ([]byte, error) {
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
