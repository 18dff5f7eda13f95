package discovery_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/discovery"
)

func parsed(t *testing.T, text string) *discovery.URISpec {
	t.Helper()
	u, err := discovery.ParseURISpec(text)
	must(t, err)
	return u
}

// What UriSpec of curator-x-discovery 5.9.0 does with the same.
func TestURIsAreBuiltAsJavaBuildsThem(t *testing.T) {
	i := discovery.ServiceInstance{
		Name: "orders", ID: "7", Address: "10.0.0.7", Port: pointer(80), Registered: time.UnixMilli(1700000000123), Type: discovery.DynamicSequential,
	}
	secure := i
	secure.SSLPort = pointer(443)
	bare := discovery.ServiceInstance{Name: "orders", ID: "7"}
	others := map[string]string{"scheme": "ws", "path": "a?b"}
	for _, c := range []struct {
		text   string
		of     discovery.ServiceInstance
		others map[string]string
		want   string
	}{
		{"{scheme}://{address}:{port}", i, nil, "http://10.0.0.7:80"},
		{"{scheme}://{address}:{ssl-port}/{name}/{id}", secure, nil, "https://10.0.0.7:443/orders/7"},
		{"{ scheme }://{address}:{port}/{path}", secure, others, "ws://10.0.0.7:80/a?b"},
		{"{service-type} {registration-time-utc}", i, nil, "dynamic_sequential 1700000000123"},
		{"{service-type} {registration-time-utc}<{address}{port}{ssl-port}>", bare, nil, "dynamic 0<>"},
		{"a{[}b{]}c{unknown}{}d", bare, nil, "a{b}cd"},
		{"", i, others, ""},
		{"no variables", i, others, "no variables"},
	} {
		if got := parsed(t, c.text).Build(c.of, c.others); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
	if got := bare.URISpec.Build(bare, nil); got != "" {
		t.Errorf("no spec: got %q, want none", got)
	}
}

func TestURISpecsAreParsedAsByJava(t *testing.T) {
	for text, want := range map[string]string{
		"{scheme}://{ address }:{port}": "[{scheme true} {:// false} {address true} {: false} {port true}]",
		" a {b}{c} d ":                  "[{ a  false} {b true} {c true} { d  false}]",
		"{}":                            "[]",
		"":                              "[]",
	} {
		if got := fmt.Sprint(parsed(t, text).Parts); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

func TestBracesWithoutACounterpartAreRefused(t *testing.T) {
	for _, text := range []string{"{", "}", "a}b", "{a", "{a{b}}", "{a}}", "{a}{", "}{"} {
		if u, err := discovery.ParseURISpec(text); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", text)) {
			t.Errorf("%q: got %v, %v, want an error that has it", text, u, err)
		}
	}
}

func FuzzParseURISpec(f *testing.F) {
	for _, text := range []string{"{scheme}://{address}:{port}", "{[}{ x }{]}", "}{", "{a{", "{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := discovery.ParseURISpec(text)
		if err != nil {
			return
		}
		first := textOf(t, u)
		if second := textOf(t, parsed(t, first)); second != first {
			t.Fatalf("%q is parsed as %q, and that as %q", text, first, second)
		}
	})
}

func textOf(t *testing.T, u *discovery.URISpec) string {
	t.Helper()
	var text strings.Builder
	for _, part := range u.Parts {
		if part.Value == "" || strings.ContainsAny(part.Value, "{}") {
			t.Fatalf("got the part %q", part.Value)
		}
		if part.Variable {
			part.Value = "{" + part.Value + "}"
		}
		text.WriteString(part.Value)
	}
	return text.String()
}
