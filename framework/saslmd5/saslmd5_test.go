package saslmd5_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/sasl"
	"github.com/gocurator/curator/framework/saslmd5"
)

const secret = "hunter2"

func password(context.Context) (string, error) { return secret, nil }

func begin(t *testing.T) sasl.Exchange {
	t.Helper()
	x, err := saslmd5.New("bob", password).Start(t.Context(), sasl.Server{Host: "zk"})
	if err != nil {
		t.Fatal(err)
	}
	response, done, err := x.Step([]byte{})
	if response == nil || len(response) > 0 || done || err != nil {
		t.Fatalf("the first token: got %q, %t, %v, want an empty one", response, done, err)
	}
	return x
}

const welcome = `realm="zk-sasl-md5",nonce="n",charset=utf-8,algorithm=md5-sess,qop="auth"`

func TestAChallengeThatCannotBeAnsweredIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		challenge []byte
		says      string
	}{
		"no token":       {nil, "fips-mode=false"},
		"empty":          {[]byte{}, "one nonce"},
		"no list":        {[]byte("nonsense"), "name=value"},
		"no nonce":       {[]byte("algorithm=md5-sess"), "one nonce"},
		"two nonces":     {[]byte("nonce=a,nonce=b,algorithm=md5-sess"), "one nonce"},
		"no algorithm":   {[]byte("nonce=a"), "one algorithm"},
		"another":        {[]byte("nonce=a,algorithm=md5"), `"md5"`},
		"a charset":      {[]byte("nonce=a,algorithm=md5-sess,charset=latin1"), `"latin1"`},
		"two charsets":   {[]byte("nonce=a,algorithm=md5-sess,charset=utf-8,charset=utf-8"), "2 times charset"},
		"only encrypted": {[]byte(`nonce=a,algorithm=md5-sess,qop="auth-int,auth-conf"`), "quality of protection"},
		"too long":       {bytes.Repeat([]byte("a"), 2049), "2049 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			response, done, err := begin(t).Step(c.challenge)
			if response != nil || done || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %t, %v, want an error with %q", response, done, err, c.says)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%q has the password", err)
			}
		})
	}
}

// A server that does not prove that it knows the password is none that the client wants to talk to.
func TestAServerWithoutAProofIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		answer []byte
		says   string
	}{
		"no token":    {nil, "no SASL"},
		"empty":       {[]byte{}, "lacks rspauth"},
		"wrong proof": {[]byte("rspauth=00112233445566778899aabbccddeeff"), "rspauth is wrong"},
	} {
		t.Run(name, func(t *testing.T) {
			x := begin(t)
			if response, done, err := x.Step([]byte(welcome)); len(response) == 0 || done || err != nil {
				t.Fatalf("got %q, %t, %v", response, done, err)
			}
			if _, _, err := x.Step(c.answer); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want an error with %q", err, c.says)
			}
		})
	}
}

func TestAPasswordThatCannotBeHadEndsTheExchange(t *testing.T) {
	lost := errors.New("vault is sealed")
	_, err := saslmd5.New("bob", func(context.Context) (string, error) { return "", lost }).Start(t.Context(), sasl.Server{})
	if !errors.Is(err, lost) {
		t.Errorf("got %v, want %v", err, lost)
	}
	if _, err := saslmd5.New("bob", nil).Start(t.Context(), sasl.Server{}); err == nil {
		t.Error("without a password function: got nil, want an error")
	}
}

func TestNeitherMechanismNorExchangeShowsThePassword(t *testing.T) {
	x := begin(t)
	if _, _, err := x.Step([]byte(welcome)); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]any{"mechanism": saslmd5.New("bob", password), "exchange": x} {
		var text bytes.Buffer
		slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
		slog.New(slog.NewJSONHandler(&text, nil)).Info("x", "value", value)
		fmt.Fprintf(&text, "%v %s %+v %#v", value, value, value, value)
		if strings.Contains(text.String(), secret) {
			t.Errorf("the %s shows it: %s", name, text.String())
		}
	}
}
