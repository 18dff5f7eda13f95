package fourletter

import (
	"context"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"
)

func TestAnswersAreToldFromTextsThatAreNone(t *testing.T) {
	const version = "Zookeeper version: 3.9.5-abc, built on x\n"
	for name, c := range map[string]struct {
		command, answer string
		err             error
		trouble         Trouble
		says            string
	}{
		"an answer":                   {"srvr", version, io.EOF, 0, ""},
		"an answer, then a reset":     {"srvr", version, syscall.ECONNRESET, 0, ""},
		"ClickHouse Keeper":           {"srvr", "ClickHouse Keeper version: v24\n", io.EOF, 0, ""},
		"another answer to cons":      {"cons", "\n", io.EOF, 0, ""},
		"not in the whitelist":        {"cons", "cons is not executed because it is not in the whitelist.\n", io.EOF, NotAllowed, "it does not allow the command cons"},
		"no leader":                   {"srvr", "This ZooKeeper instance is not currently serving requests\n", io.EOF, NotServing, "it serves no clients: it has no leader, or has just started"},
		"a web server":                {"srvr", "HTTP/1.1 400 Bad Request\r\n\r\n", io.EOF, Foreign, "it is a web server (HTTP/1.1 400 Bad Request)"},
		"a web server without a line": {"srvr", "<!DOCTYPE HTML>\n", io.EOF, Foreign, "it is a web server"},
		"TLS":                         {"srvr", "\x15\x03\x03\x00\x02\x02\x50", io.EOF, Foreign, "its port speaks TLS"},
		"another program":             {"srvr", "SSH-2.0-OpenSSH\r\n", io.EOF, Foreign, `it answers srvr with "SSH-2.0-OpenSSH\r", which no ZooKeeper server does`},
		"nothing":                     {"srvr", "", io.EOF, HungUp, "it hangs up without a word"},
		"a reset":                     {"srvr", "", syscall.ECONNRESET, HungUp, "it hangs up without a word: connection reset by peer"},
		"silence":                     {"srvr", "", context.DeadlineExceeded, Silent, "it is silent for 2s"},
		"half an answer":              {"cons", " /10.0.0.7:1[1](", context.DeadlineExceeded, Silent, "its answer does not end within 2s"},
		"too long an answer":          {"cons", "", &Error{Foreign, "too long"}, Foreign, "too long"},
	} {
		got, err := judge(c.command, c.answer, c.err, 2*time.Second)
		if TroubleOf(err) != c.trouble || (err == nil) != (c.trouble == 0) {
			t.Errorf("%s: got trouble %d (%v), want %d", name, TroubleOf(err), err, c.trouble)
		}
		if err == nil && got != c.answer || err != nil && (got != "" || err.Error() != c.says) {
			t.Errorf("%s: got %q, %v, want %q", name, got, err, c.says)
		}
	}
}

func TestTroubleOfAnotherErrorIsNone(t *testing.T) {
	if got := TroubleOf(errors.New("another")); got != 0 {
		t.Errorf("got trouble %d, want 0", got)
	}
}
