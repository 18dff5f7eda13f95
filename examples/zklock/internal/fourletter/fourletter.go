// Package fourletter asks ZooKeeper servers by four-letter commands.
package fourletter

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"
)

// Addresses returns the servers of a connect string, each with a port.
func Addresses(connect string) (all []string) {
	addresses, _ := Split(connect)
	for address := range strings.SplitSeq(addresses, ",") {
		if _, _, err := net.SplitHostPort(address); err != nil {
			address = net.JoinHostPort(strings.Trim(address, "[]"), "2181")
		}
		all = append(all, address)
	}
	return all
}

// A Server is one that is asked.
type Server struct {
	Address string
	TLS     *tls.Config   // nil: in the clear
	Limit   time.Duration // for each answer
}

// Servers returns those of a connect string, each once.
func Servers(connect string, secure *tls.Config, limit time.Duration) (all []Server) {
	for _, address := range Addresses(connect) {
		if !slices.ContainsFunc(all, func(s Server) bool { return s.Address == address }) {
			all = append(all, Server{address, secure, limit})
		}
	}
	return all
}

// Each calls ask for 0 to n-1 in parallel, and blocks until all have returned. The context of the calls ends after
// limit.
func Each(ctx context.Context, n int, limit time.Duration, ask func(ctx context.Context, i int)) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { ask(ctx, i) })
	}
	all.Wait()
}

// mostAnswer bounds an answer: cons has some 250 bytes for each connection.
const mostAnswer = 16 << 20

// ends has, by command, the text behind which an answer says nothing of interest here, and may be very long.
var ends = map[string]string{"dump": endOfSessions}

// Ask sends a four-letter command, and returns the answer. It blocks until the server has closed the connection, until
// the server's limit, or until ctx ends. Every error is an *[Error].
func (s Server) Ask(ctx context.Context, command string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, s.Limit)
	defer cancel()
	answer, err := s.ask(limited, command)
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return "", ErrNotAsked
	}
	return answer, err
}

func (s Server) ask(ctx context.Context, command string) (string, error) {
	conn, err := s.dial(ctx)
	if err != nil {
		return "", unreachable(err, s.Limit)
	}
	defer conn.Close()
	release := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer release()
	if _, err := conn.Write([]byte(command)); err != nil {
		return "", unreachable(err, s.Limit)
	}
	answer, err := s.read(ctx, conn, command)
	return judge(command, answer, err, s.Limit)
}

func (s Server) dial(ctx context.Context) (net.Conn, error) {
	if s.TLS == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", s.Address)
	}
	return (&tls.Dialer{Config: s.TLS}).DialContext(ctx, "tcp", s.Address)
}

// read reads an answer. A server that has said nothing for half of the time gets two ends of lines, to which a web
// server answers what it is; a ZooKeeper server that has read a command reads nothing more.
func (s Server) read(ctx context.Context, conn net.Conn, command string) (string, error) {
	var answer strings.Builder
	chunk := make([]byte, 64<<10)
	end := ends[command]
	pushed := false
	_ = conn.SetReadDeadline(time.Now().Add(s.Limit / 2))
	for {
		n, err := conn.Read(chunk)
		_, _ = answer.Write(chunk[:n])
		switch {
		case ctx.Err() != nil:
			return answer.String(), ctx.Err()
		case isTimeout(err) && !pushed:
			pushed = true
			if err := push(ctx, conn, answer.Len() == 0); err != nil {
				return answer.String(), err
			}
		case err != nil:
			return answer.String(), err
		case end != "" && strings.Contains(answer.String()[max(answer.Len()-n-len(end), 0):], end):
			return answer.String(), nil
		case answer.Len() > mostAnswer:
			return "", &Error{Foreign, fmt.Sprintf("its answer is longer than %d MiB", mostAnswer>>20)}
		}
	}
}

// push gives a connection the rest of the time.
func push(ctx context.Context, conn net.Conn, silent bool) error {
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	if ctx.Err() != nil { // ended before its deadline, and what was set for that is overwritten
		return ctx.Err()
	}
	if !silent {
		return nil
	}
	_, err := conn.Write([]byte("\r\n\r\n"))
	return err
}
