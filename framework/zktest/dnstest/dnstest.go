// Package dnstest is a DNS server for tests: over connections in memory, also in a bubble, or over UDP on this machine.
//
// It replaces [net.DefaultResolver] until the test ends, so such a test must not call t.Parallel. A look-up lasts until
// its deadline, also if its client is closed: before a bubble ends, close the client and sleep past that.
package dnstest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Response codes, see RFC 1035.
const (
	ok       = 0
	servFail = 2
	noName   = 3
)

// A Server answers questions for SRV and A records. The zero value has none. Its methods are safe for concurrent use.
type Server struct {
	mu     sync.Mutex
	srv    map[string][]net.SRV
	a      map[string]net.IP
	fails  bool
	silent bool
	asked  int
}

// SetSRV sets the records of a name, which ends with a dot; none is an answer without records. It panics if a label of
// a name has more than 63 bytes.
func (s *Server) SetSRV(name string, records ...net.SRV) {
	mustFit(name)
	for _, r := range records {
		mustFit(r.Target)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.srv == nil {
		s.srv = make(map[string][]net.SRV)
	}
	s.srv[strings.ToLower(name)] = records
}

// SetA sets the one address of a host, whose name ends with a dot. It panics if that is no IPv4 address, or
// a label has more than 63 bytes.
func (s *Server) SetA(host string, ip net.IP) {
	mustFit(host)
	if ip.To4() == nil {
		panic(fmt.Sprintf("dnstest: SetA of %s: %v is no IPv4 address, and AAAA records are not served", host, ip))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.a == nil {
		s.a = make(map[string]net.IP)
	}
	s.a[strings.ToLower(host)] = ip.To4()
}

// mustFit panics if a name does not fit into a message: the first two bits of a label's length mean something else.
func mustFit(name string) {
	for label := range strings.SplitSeq(name, ".") {
		if len(label) > 63 {
			panic(fmt.Sprintf("dnstest: %q has %d bytes: a label of a DNS name has at most 63", label, len(label)))
		}
	}
}

// Forget has the server know no name any more.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.srv, s.a = nil, nil
}

// Fail has the server answer that it has failed.
func (s *Server) Fail() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = true
}

// Mute has the server answer nothing.
func (s *Server) Mute() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = true
}

// Asked is how many questions have come.
func (s *Server) Asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// Resolve has the program ask this server, over connections in memory, until the test ends. Call it before a bubble
// begins: the first look-up of a process makes a channel that all later ones use.
func (s *Server) Resolve(t *testing.T) {
	resolve(t, func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go s.serveStream(server) // ends when the resolver closes its end
		return client, nil
	})
	_, _, _ = net.DefaultResolver.LookupSRV(t.Context(), "", "", "first.")
}

// ResolveUDP is Resolve over UDP on this machine.
func (s *Server) ResolveUDP(t *testing.T) {
	t.Helper()
	socket, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.servePackets(socket) })
	t.Cleanup(func() {
		_ = socket.Close()
		serving.Wait()
	})
	resolve(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", socket.LocalAddr().String())
	})
}

func resolve(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	before := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: dial}
	t.Cleanup(func() { net.DefaultResolver = before })
}

func (s *Server) servePackets(socket net.PacketConn) {
	buf := make([]byte, 4096)
	for {
		n, from, err := socket.ReadFrom(buf)
		if err != nil {
			return
		}
		if reply := s.reply(buf[:n]); reply != nil {
			_, _ = socket.WriteTo(reply, from)
		}
	}
}

// serveStream reads questions with their length in front.
func (s *Server) serveStream(conn net.Conn) {
	defer conn.Close()
	for {
		var size [2]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(conn, question); err != nil {
			return
		}
		if reply := s.reply(question); reply != nil {
			if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...)); err != nil {
				return
			}
		}
	}
}

// reply returns the answer to a question, or nil.
func (s *Server) reply(question []byte) []byte {
	name, kind, end, err := parse(question)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if err != nil || s.silent {
		return nil
	}
	code, answers := s.answers(name, kind)
	reply := append([]byte{}, question[:2]...)
	reply = append(reply, 0x81, 0x80|code, 0, 1)
	reply = binary.BigEndian.AppendUint16(reply, uint16(len(answers)))
	reply = append(reply, 0, 0, 0, 0)
	reply = append(reply, question[headerSize:end]...)
	for _, data := range answers {
		reply = append(reply, 0xc0, headerSize) // the name of the question
		reply = binary.BigEndian.AppendUint16(reply, kind)
		reply = append(reply, 0, classIN, 0, 0, 0, 5)
		reply = binary.BigEndian.AppendUint16(reply, uint16(len(data)))
		reply = append(reply, data...)
	}
	return reply
}

// answers returns the data of the records of a name.
func (s *Server) answers(name string, kind uint16) (code byte, all [][]byte) {
	srv, known := s.srv[name]
	a, isHost := s.a[name]
	switch {
	case s.fails:
		return servFail, nil
	case !known && !isHost:
		return noName, nil
	case kind == typeA && isHost:
		return ok, [][]byte{a}
	case kind != typeSRV:
		return ok, nil
	}
	for _, r := range srv {
		data := binary.BigEndian.AppendUint16(nil, r.Priority)
		data = binary.BigEndian.AppendUint16(data, r.Weight)
		data = binary.BigEndian.AppendUint16(data, r.Port)
		all = append(all, append(data, labels(r.Target)...))
	}
	return ok, all
}

const (
	headerSize = 12
	typeA      = 1
	typeSRV    = 33
	classIN    = 1
)

var errNoQuestion = errors.New("no question")

// parse returns the name and the type of the one question, and where it ends.
func parse(message []byte) (name string, kind uint16, end int, err error) {
	at := headerSize
	for at < len(message) && message[at] != 0 {
		next := at + 1 + int(message[at])
		if next > len(message) {
			return "", 0, 0, errNoQuestion
		}
		name += string(message[at+1:next]) + "."
		at = next
	}
	if at+5 > len(message) {
		return "", 0, 0, errNoQuestion
	}
	return strings.ToLower(name), binary.BigEndian.Uint16(message[at+1:]), at + 5, nil
}

// labels is a name in a message.
func labels(name string) (all []byte) {
	for label := range strings.SplitSeq(strings.Trim(name, "."), ".") {
		if label != "" {
			all = append(append(all, byte(len(label))), label...)
		}
	}
	return append(all, 0)
}
