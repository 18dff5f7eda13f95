package zktest

import (
	"net"
	"strings"
	"testing"
)

// token sends a SASL token and returns what the answer says.
func (c *client) token(token string) (result code, answer string, err error) {
	var e encoder
	e.int32(1)
	e.int32(int32(OpSASL))
	e.bytes([]byte(token))
	c.write(e.b)
	d, err := c.read()
	if err != nil {
		return 0, "", err
	}
	d.int32()
	d.int64()
	result = code(d.int32())
	return result, string(d.bytes()), nil
}

// responseTo answers a challenge as bob.
func responseTo(challenge string) string {
	fields := saslFields(challenge)
	fields["username"], fields["cnonce"], fields["nc"], fields["digest-uri"] = "bob", "c", "00000001", "zookeeper/"+saslRealm
	fields["response"] = saslProof("AUTHENTICATE", "secret", fields)
	var parts []string
	for name, value := range fields {
		parts = append(parts, name+`="`+value+`"`)
	}
	return strings.Join(parts, ",")
}

// A client that has overheard an answer must not pass for its user by repeating it.
func TestASASLChallengeIsGoodForOneAnswer(t *testing.T) {
	Bubble(t, func(t *testing.T) {
		srv := New(t, WithSASL(map[string]string{"bob": "secret"}))
		s := &script{t: t, dial: func() (net.Conn, error) { return srv.Dial("", "", 0) }}
		c := s.connect()
		defer c.nc.Close()
		code, challenge, err := c.token("")
		if code != 0 || err != nil {
			t.Fatalf("got code %d and %v, want a challenge", code, err)
		}
		response := responseTo(challenge)
		if code, proof, err := c.token(response); code != 0 || err != nil || !strings.HasPrefix(proof, "rspauth=") {
			t.Fatalf("got code %d, %q and %v, want the server's proof", code, proof, err)
		}
		if code, proof, err := c.token(response); code != codeAuthFailed {
			t.Errorf("got code %d, %q and %v for a repeated answer, want code %d", code, proof, err, codeAuthFailed)
		}
		if _, err := c.read(); err == nil || fate(err) != "closed" {
			t.Errorf("got %v, want the connection closed", err)
		}
	})
}
