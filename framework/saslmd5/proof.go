package saslmd5

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
)

// What never varies with ZooKeeper: its servers have the protocol and their name wired in, and each connection has one
// exchange.
const (
	digestURI  = "zookeeper/zk-sasl-md5"
	nonceCount = "00000001"
	quality    = "auth"
)

// A proof is what both sides hash to show that they know the password.
type proof struct {
	user, password, realm, nonce, cnonce string
	latin1                               bool // the server knows UTF-8, and so hashes what fits in ISO-8859-1
}

// response is the client's answer to a challenge.
func (p proof) response() []byte {
	fields := []string{
		"username=" + quote(p.user), "realm=" + quote(p.realm), "nonce=" + quote(p.nonce), "nc=" + nonceCount, "cnonce=" + quote(p.cnonce),
		"digest-uri=" + quote(digestURI), "maxbuf=65536", "response=" + p.sum("AUTHENTICATE"), "qop=" + quality,
	}
	if p.latin1 {
		fields = append([]string{"charset=" + utf8Charset}, fields...)
	}
	return []byte(strings.Join(fields, ","))
}

// sum is the client's proof, or with no method the server's.
func (p proof) sum(method string) string {
	identity := md5.Sum([]byte(p.hashed(p.user) + ":" + p.hashed(p.realm) + ":" + p.hashed(p.password)))
	a1 := string(identity[:]) + ":" + p.nonce + ":" + p.cnonce
	a2 := method + ":" + digestURI
	return hexSum(hexSum(a1) + ":" + p.nonce + ":" + nonceCount + ":" + p.cnonce + ":" + quality + ":" + hexSum(a2))
}

func hexSum(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// hashed is text as it is hashed: in ISO-8859-1 if all of it fits, although it is sent in UTF-8 (RFC 2831, 2.1.2.1).
func (p proof) hashed(text string) string {
	if !p.latin1 {
		return text
	}
	short := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		short = append(short, byte(r))
	}
	return string(short)
}
