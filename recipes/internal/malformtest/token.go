package malformtest

import "strings"

// ofTokens are malformations of what a server says in an exchange by DIGEST-MD5: a challenge, and then a proof.
func ofTokens() (all []Malformation) {
	for _, c := range []struct {
		name string
		with func(old string) string
	}{
		{"token is empty", func(string) string { return "" }},
		{"token is long", func(s string) string { return s + "," + strings.Repeat("x", 100_000) + "=1" }},
		{"token is commas", func(string) string { return strings.Repeat(",", 10_000) }},
		{"token has no values", func(string) string { return "realm,nonce,qop" }},
		{"token has an open quote", func(s string) string { return s + `,x="` }},
		{"token ends in an escape", func(s string) string { return s + `,x="\` }},
		{"token has NUL", func(s string) string { return s + "\x00" }},
		{"token is no UTF-8", func(s string) string { return s + ",x=\xff\xfe" }},
		{"token has no nonce", func(s string) string { return strings.ReplaceAll(s, "nonce", "once") }},
		{"token has two nonces", func(s string) string { return s + `,nonce="x"` }},
		{"nonce is another", func(s string) string { return strings.ReplaceAll(s, `nonce="`, `nonce="x`) }},
		{"nonce is long", func(s string) string {
			return strings.ReplaceAll(s, `nonce="`, `nonce="`+strings.Repeat("x", 30_000))
		}},
		{"realm is another", func(s string) string { return strings.ReplaceAll(s, "zk-sasl-md5", "elsewhere") }},
		{"algorithm is unknown", func(s string) string { return strings.ReplaceAll(s, "md5-sess", "md4") }},
		{"charset is unknown", func(s string) string { return strings.ReplaceAll(s, "utf-8", "ebcdic") }},
		{"quality is another", func(s string) string { return strings.ReplaceAll(s, `"auth"`, `"auth-conf"`) }},
		{"proof is wrong", func(s string) string { return strings.ReplaceAll(s, "rspauth=", "rspauth=0") }},
		{"proof is empty", func(s string) string {
			if strings.HasPrefix(s, "rspauth=") {
				return "rspauth="
			}
			return s
		}},
	} {
		all = append(all, stateless(c.name, replaceFirst(16, c.with)))
	}
	return all
}
