//go:build linux

package interop_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
)

// Payloads of services, by their name in orders; and on the wire, where Java adds the class.
var payloads = map[string]struct{ fields, class, wire string }{
	"job": {
		`{"region":"eu","slots":3,"tags":["a","<b>"]}`, "Services$Job",
		`{"@class":"Services$Job","region":"eu","slots":3,"tags":["a","<b>"]}`,
	},
	"map": {
		`{"a":1,"b":{"c":[1,2.5]}}`, "java.util.LinkedHashMap",
		`{"@class":"java.util.LinkedHashMap","a":1,"b":{"c":[1,2.5]}}`,
	},
	"spring": {
		`{"id":"app-1","name":"app","metadata":{"zone":"a & b"}}`, "org.springframework.cloud.zookeeper.discovery.ZookeeperInstance",
		`{"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance","id":"app-1","name":"app","metadata":{"zone":"a & b"}}`,
	},
	"string": {`"text é \"quoted\""`, "java.lang.String", `"text é \"quoted\""`},
	"long":   {`5000000000`, "java.lang.Long", `["java.lang.Long",5000000000]`},
}

// sample is an instance that has every field.
func sample(service, payload, id string, kind discovery.ServiceType) godriver.Service {
	port, sslPort := 8080, 8443
	return godriver.Service{
		Name: service, ID: id, Address: "10.0.0.1", Port: &port, SSLPort: &sslPort,
		Payload: json.RawMessage(payloads[payload].fields), PayloadClass: payloads[payload].class,
		Registered: 1_700_000_000_123, Type: string(kind), Enabled: true,
		URISpec: "{scheme}://{address}:{ssl-port}/{name}/{id}?at={registration-time-utc}&{service-type}",
	}
}

// bare has only what an instance must have.
func bare(service, payload, id string) godriver.Service {
	return godriver.Service{
		Name: service, ID: id, Address: "host", Type: string(discovery.Dynamic), Enabled: true, Registered: 1,
		Payload: json.RawMessage(payloads[payload].fields), PayloadClass: payloads[payload].class,
	}
}

// ourInstance is an instance for this library. Enabled is left out as Java does it, unless it is to be written.
func ourInstance(t testing.TB, s godriver.Service, payload string, writesEnabled bool) discovery.ServiceInstance {
	t.Helper()
	i := discovery.ServiceInstance{
		Name: s.Name, ID: s.ID, Address: s.Address, Port: s.Port, SSLPort: s.SSLPort,
		Payload: json.RawMessage(payloads[payload].wire), Type: discovery.ServiceType(s.Type),
	}
	if s.Registered != 0 {
		i.Registered = time.UnixMilli(s.Registered)
	}
	if s.URISpec != "" {
		spec, err := discovery.ParseURISpec(s.URISpec)
		if err != nil {
			t.Fatal(err)
		}
		i.URISpec = spec
	}
	if writesEnabled {
		i.Enabled = &s.Enabled
	}
	return i
}

// asJava is an instance of this library as Java's driver would describe it.
func asJava(t testing.TB, i discovery.ServiceInstance) godriver.Service {
	t.Helper()
	s := godriver.Service{
		Name: i.Name, ID: i.ID, Address: i.Address, Port: i.Port, SSLPort: i.SSLPort, Type: string(i.Type),
		URI: i.URISpec.Build(i, nil), Enabled: i.IsEnabled(),
	}
	s.Payload, s.PayloadClass = payloadOf(t, i)
	if !i.Registered.IsZero() {
		s.Registered = i.Registered.UnixMilli()
	}
	if i.URISpec != nil {
		for _, part := range i.URISpec.Parts {
			if part.Variable {
				part.Value = "{" + part.Value + "}"
			}
			s.URISpec += part.Value
		}
	}
	return s
}

// payloadOf decodes a payload, and finds its class.
func payloadOf(t testing.TB, i discovery.ServiceInstance) (fields json.RawMessage, class string) {
	t.Helper()
	if len(i.Payload) == 0 {
		return nil, ""
	}
	var value any
	var err error
	switch i.Payload[0] {
	case '{':
		var object map[string]any
		object, err = discovery.Payload[map[string]any](i)
		class, _ = jsonOf[map[string]any](t, i.Payload)["@class"].(string)
		delete(object, "@class")
		value = object
	case '[':
		value, err = discovery.Payload[int64](i)
		class, _ = jsonOf[[]any](t, i.Payload)[0].(string)
	default:
		value, err = discovery.Payload[string](i)
		class = "java.lang.String"
	}
	if err != nil {
		t.Errorf("payload %s: %v", i.Payload, err)
	}
	fields, err = json.Marshal(value)
	if err != nil {
		t.Error(err)
	}
	return fields, class
}

func jsonOf[T any](t testing.TB, text []byte) T {
	t.Helper()
	var value T
	if err := json.Unmarshal(text, &value); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return value
}

// listed is one line for each instance, by id, with equal texts for equal instances.
func listed(t testing.TB, all []godriver.Service) string {
	t.Helper()
	var lines []string
	for _, s := range all {
		if len(s.Payload) > 0 {
			s.Payload, _ = json.Marshal(jsonOf[any](t, s.Payload)) // fields by name
		}
		var line bytes.Buffer
		encoder := json.NewEncoder(&line)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(s); err != nil {
			t.Error(err)
		}
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
