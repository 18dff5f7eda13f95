package saslmd5

import (
	"strings"
	"testing"
)

// The values come from an implementation that the Java server accepts.
func TestAProofIsThatOfOtherImplementations(t *testing.T) {
	p := proof{user: "super", password: "admin", realm: "zk-sasl-md5", nonce: "qWkHmx+rW9vYQNysvUOCA3gWLks3u9cL5rc9JJFi", cnonce: "140741146289", latin1: true}
	if got, want := p.sum("AUTHENTICATE"), "08125d12f8b89ca7dd8b5028b5cd7c3b"; got != want {
		t.Errorf("the client's proof: got %s, want %s", got, want)
	}
	if got, want := p.sum(""), "ba3fc9d5e624c8729dfb1ea3db13ddf3"; got != want {
		t.Errorf("the server's proof: got %s, want %s", got, want)
	}
	got := string(p.response())
	for _, want := range []string{
		"charset=utf-8,", `username="super"`, `realm="zk-sasl-md5"`, `nonce="qWkHmx+rW9vYQNysvUOCA3gWLks3u9cL5rc9JJFi"`, "nc=00000001",
		`cnonce="140741146289"`, `digest-uri="zookeeper/zk-sasl-md5"`, "response=08125d12f8b89ca7dd8b5028b5cd7c3b", "qop=auth",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the response %s lacks %s", got, want)
		}
	}
	if strings.Contains(got, "admin") {
		t.Errorf("the response has the password: %s", got)
	}
}

func TestWhatFitsInLatin1IsHashedInItIfTheServerKnowsUTF8(t *testing.T) {
	for _, c := range []struct {
		text, want string
		latin1     bool
	}{
		{"käse", "k\xe4se", true}, {"käse", "käse", false}, {"密", "密", true}, {"ä密", "ä密", true}, {"\xff", "\xff", true}, {"", "", true},
	} {
		if got := (proof{latin1: c.latin1}).hashed(c.text); got != c.want {
			t.Errorf("%q, server knows UTF-8 %t: got %q, want %q", c.text, c.latin1, got, c.want)
		}
	}
}
