package saslmd5

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A challenge is what a server says, by the names of its directives in lower case. Some may come several times.
type challenge map[string][]string

// one is a directive's first value, "" if there is none.
func (c challenge) one(name string) string {
	if len(c[name]) == 0 {
		return ""
	}
	return c[name][0]
}

const utf8Charset = "utf-8"

// validate checks what RFC 2831 wants of a first challenge, and that this package can answer it.
func (c challenge) validate() error {
	for _, name := range []string{"nonce", "algorithm"} {
		if len(c[name]) != 1 || c[name][0] == "" {
			return fmt.Errorf("the challenge must have one %s, got %d", name, len(c[name]))
		}
	}
	for _, name := range []string{"qop", "charset", "maxbuf", "stale"} {
		if len(c[name]) > 1 {
			return fmt.Errorf("the challenge has %d times %s", len(c[name]), name)
		}
	}
	switch {
	case c.one("algorithm") != "md5-sess":
		return fmt.Errorf("unknown algorithm %q", c.one("algorithm"))
	case len(c["charset"]) > 0 && c.one("charset") != utf8Charset:
		return fmt.Errorf("unknown charset %q", c.one("charset"))
	case len(c["qop"]) > 0 && !slices.Contains(elements(c.one("qop")), "auth"):
		return fmt.Errorf("the server insists on quality of protection %q, ZooKeeper has none but auth", c.one("qop"))
	default:
		return nil
	}
}

// elements returns the elements of a list within one value.
func elements(value string) []string {
	return strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// parse reads a list of name=value, where the value is a token or a string in quotes. Elements may be empty.
func parse(text string) (challenge, error) {
	c := challenge{}
	for {
		text = strings.TrimLeft(text, ", \t\r\n")
		if text == "" {
			return c, nil
		}
		name, rest, ok := strings.Cut(text, "=")
		if name = strings.ToLower(strings.TrimRight(name, " \t")); !ok || !token(name) {
			return nil, errSyntax
		}
		value, rest, err := parseValue(strings.TrimLeft(rest, " \t"))
		if err != nil {
			return nil, err
		}
		if rest = strings.TrimLeft(rest, " \t\r\n"); rest != "" && rest[0] != ',' {
			return nil, errSyntax
		}
		c[name] = append(c[name], value)
		text = rest
	}
}

// errSyntax does not quote the text, which is the server's.
var errSyntax = errors.New("the challenge is no list of name=value")

// parseValue reads one value and returns what follows it.
func parseValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ", \t\r\n")
		if end < 0 {
			end = len(text)
		}
		if !token(text[:end]) {
			return "", "", errSyntax
		}
		return text[:end], text[end:], nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return b.String(), text[i+1:], nil
		case '\\':
			if i++; i == len(text) {
				return "", "", errSyntax
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", errSyntax
}

// token reports whether text is a token of RFC 2616, apart from bytes beyond ASCII, which no name here has.
func token(text string) bool {
	for i := range len(text) {
		if c := text[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`()<>@,;:\"/[]?={}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}

// quote puts a value into quotes.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}
