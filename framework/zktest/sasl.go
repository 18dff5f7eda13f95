package zktest

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"strings"
)

// WithSASL has the server take SASL DIGEST-MD5 of these users, whom it knows by
// their passwords, as with a JAAS section Server and DigestLoginModule. ACLs of
// scheme sasl are known then; the user "super" matches all of these. Without
// WithSASL the server answers without a token, as one without that section.
func WithSASL(passwords map[string]string) Option {
	passwords = maps.Clone(passwords)
	return func(c *config) { c.sasl = passwords }
}

// WithSASLRequired has the server refuse everything but authentication until a
// client has authenticated by SASL, as with sessionRequireClientSASLAuth.
func WithSASLRequired() Option { return func(c *config) { c.saslRequired = true } }

// SetSASLPassword changes a user's password at this server alone, as each
// server has a JAAS file of its own; "" removes the user. Connections that are
// there go on. It needs WithSASL.
func (s *Server) SetSASLPassword(user, password string) {
	s.mu.Lock()
	defer s.unlock()
	own := maps.Clone(s.saslUsers())
	own[user] = password
	s.passwords = own
}

// saslUsers are this server's; the store is locked.
func (s *Server) saslUsers() map[string]string {
	if s.passwords != nil {
		return s.passwords
	}
	return s.cfg.sasl
}

const saslRealm = "zk-sasl-md5"

// unproven refuses a request of a client that has still to authenticate.
func (c *conn) unproven(op Op) bool {
	if !c.srv.cfg.saslRequired || op == OpSetAuth || op == OpSASL {
		return false
	}
	for _, id := range c.auth {
		if id.scheme == "sasl" {
			return false
		}
	}
	return true
}

// sasl answers a token. Its first answer is a challenge, its second proves that
// the server knows the password, too.
func (c *conn) sasl(d *decoder, out *encoder) effect {
	token := string(d.bytes())
	if d.bad {
		return effect{silent: true, close: true}
	}
	users := c.srv.saslUsers()
	switch {
	case users == nil:
		out.bytes(nil)
		return effect{}
	case c.nonce == "" && token == "":
		c.nonce = rand.Text()
		out.bytes([]byte(`realm="` + saslRealm + `",nonce="` + c.nonce + `",charset=utf-8,algorithm=md5-sess,qop="auth"`))
		return effect{}
	}
	fields := saslFields(token)
	user := fields["username"]
	password := users[user]
	nonce := c.nonce
	c.nonce = "" // is good for one answer
	proof := func(method string) string { return saslProof(method, password, fields) }
	if nonce == "" || password == "" || fields["nonce"] != nonce || fields["realm"] != saslRealm || fields["nc"] != "00000001" ||
		!strings.EqualFold(fields["digest-uri"], "zookeeper/"+saslRealm) || fields["response"] != proof("AUTHENTICATE") {
		if c.srv.cfg.saslRequired {
			return effect{err: codeSASLRequired, close: true}
		}
		return effect{err: codeAuthFailed, close: true}
	}
	c.auth = append(c.auth, identity{"sasl", user})
	out.bytes([]byte("rspauth=" + proof("")))
	return effect{}
}

// saslFields reads name=value and name="value" of a client that means well.
func saslFields(token string) map[string]string {
	fields := make(map[string]string)
	for token != "" {
		var name, value string
		name, token, _ = strings.Cut(token, "=")
		if rest, quoted := strings.CutPrefix(token, `"`); quoted {
			value, token = unquote(rest)
		} else {
			value, _, _ = strings.Cut(token, ",")
			token = token[len(value):]
		}
		fields[name] = value
		token = strings.TrimPrefix(token, ",")
	}
	return fields
}

func unquote(text string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '"' {
			return b.String(), text[i+1:]
		}
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), ""
}

// saslProof is RFC 2831's response-value; names in ASCII are enough here.
func saslProof(method, password string, f map[string]string) string {
	hash := func(text string) string {
		sum := md5.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	secret := md5.Sum([]byte(f["username"] + ":" + f["realm"] + ":" + password))
	a1 := string(secret[:]) + ":" + f["nonce"] + ":" + f["cnonce"]
	parts := []string{hash(a1), f["nonce"], f["nc"], f["cnonce"], f["qop"], hash(method + ":" + f["digest-uri"])}
	return hash(strings.Join(parts, ":"))
}
