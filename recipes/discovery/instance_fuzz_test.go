package discovery_test

import (
	"encoding/json"
	"testing"

	"github.com/gocurator/curator/recipes/discovery"
)

// What is read is written again with the same values, whatever its form was, and what is written is read and written
// byte for byte.
func FuzzServiceInstance(f *testing.F) {
	for _, w := range written {
		f.Add([]byte(w.bytes))
	}
	for _, text := range []string{
		`{"name":"orders","id":"7","uriSpec":{},"later":[{"b": 1.50}],"ID":null}`, `{"name":"","id":"a/b","port":-1}`, `null`, `{"name":7}`,
		`{"name":"orders","id":"7","payload":["java.lang.Long",5],"registrationTimeUTC":-9223372036854775808}`,
		"{\"name\":\"orders\",\"id\":\"7\",\"\xff\":\"\u2028\",\"payload\":\"\xff\"}", `{"name":"orders","id":"7","id":"8","serviceType":"STATIC"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var read, again discovery.ServiceInstance
		if json.Unmarshal(text, &read) != nil {
			if brief(read) != "" || read.Extra != nil {
				t.Fatalf("%q is refused, and has made %+v", text, read)
			}
			return
		}
		first, err := read.MarshalJSON()
		if err != nil {
			t.Fatalf("%q is read as %+v, which is refused: %v", text, read, err)
		}
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%q is written as %q, which is refused: %v", text, first, err)
		}
		if second := data(t, again); string(second) != string(first) {
			t.Fatalf("%q is written as %q, and then as %q", text, first, second)
		}
		if read.Name == "" || read.ID == "" || !read.Registered.Equal(again.Registered) || read.IsEnabled() != again.IsEnabled() {
			t.Fatalf("%q is read as %+v, and written as %+v", text, read, again)
		}
		_, _ = discovery.Payload[metadata](read)
		_, _ = discovery.Payload[[]any](read)
		_ = read.URISpec.Build(read, nil)
	})
}
