package saslmd5

import (
	"reflect"
	"strings"
	"testing"
)

func TestAChallengeIsParsedAsRFC2831SaysIt(t *testing.T) {
	for text, want := range map[string]challenge{
		"":             {},
		" , ,":         {},
		"a=1":          {"a": {"1"}},
		"A=1":          {"a": {"1"}},
		"a=1,a=2":      {"a": {"1", "2"}},
		`a="x,y" , b=`: nil,
		`realm="zk-sasl-md5",nonce="q+/=",charset=utf-8,algorithm=md5-sess,qop="auth"`: {
			"realm": {"zk-sasl-md5"}, "nonce": {"q+/="}, "charset": {"utf-8"}, "algorithm": {"md5-sess"}, "qop": {"auth"},
		},
		`a = "1" ,, b=2`: {"a": {"1"}, "b": {"2"}},
		`a="\"\\\x"`:     {"a": {`"\x`}},
		`a=""`:           {"a": {""}},
		`a="x,b=1`:       nil,
		`a="x\`:          nil,
		`a="x"b=1`:       nil,
		"a":              nil,
		"=1":             nil,
		"a=":             nil,
		"a=b=c":          nil,
		"a b=c":          nil,
		"a=\x00":         nil,
	} {
		got, err := parse(text)
		if (err != nil) != (want == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func FuzzAChallengeIsReadBackOrRefused(f *testing.F) {
	for _, text := range []string{
		`realm="zk-sasl-md5",nonce="n",charset=utf-8,algorithm=md5-sess,qop="auth"`, "rspauth=ba3f", `a="\\\"",b=c`, "", `a="`, "a=,", "nonce=x,algorithm=md5-sess",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parse(string(text))
		if err == nil {
			var again strings.Builder
			for name, values := range c {
				for _, value := range values {
					again.WriteString(name + "=" + quote(value) + ",")
				}
			}
			back, err := parse(again.String())
			if err != nil || !reflect.DeepEqual(back, c) {
				t.Fatalf("%q: read as %v, written as %q, read again as %v, %v", text, c, again.String(), back, err)
			}
		}
		x := &exchange{user: "bob", password: "secret", cnonce: "c", steps: 1}
		response, done, err := x.Step(text)
		if done || (err == nil) == (response == nil) {
			t.Fatalf("%q: got %q, %t, %v", text, response, done, err)
		}
		if err == nil {
			if _, err := parse(string(response)); err != nil {
				t.Fatalf("%q is answered with %q: %v", text, response, err)
			}
		}
		if _, done, err := x.Step(text); done && err == nil {
			t.Fatalf("%q passes for a proof", text)
		}
	})
}
