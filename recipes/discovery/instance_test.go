package discovery_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/recipes/discovery"
)

// What JsonInstanceSerializer of curator-x-discovery 5.9.0 has written, byte for byte.
var written = []struct {
	name     string
	instance discovery.ServiceInstance
	bytes    string
}{
	{
		"every field",
		discovery.ServiceInstance{
			Name: "orders", ID: "7", Address: "10.0.0.1", Port: pointer(80), SSLPort: pointer(443), Registered: time.UnixMilli(1700000000123).UTC(),
			Type: discovery.DynamicSequential, Payload: json.RawMessage(`{"@class":"shop.Order$V1","a":"x","tags":["q"]}`), Enabled: pointer(false),
			URISpec: &discovery.URISpec{Parts: []discovery.URIPart{part("scheme", true), part("://", false), part("address", true)}},
		},
		`{"name":"orders","id":"7","address":"10.0.0.1","port":80,"sslPort":443,"payload":{"@class":"shop.Order$V1","a":"x","tags":["q"]},` +
			`"registrationTimeUTC":1700000000123,"serviceType":"DYNAMIC_SEQUENTIAL","uriSpec":{"parts":[{"value":"scheme","variable":true},` +
			`{"value":"://","variable":false},{"value":"address","variable":true}]},"enabled":false}`,
	},
	{
		"nothing but names",
		discovery.ServiceInstance{Name: "orders", ID: "7", Type: discovery.Dynamic},
		`{"name":"orders","id":"7","address":null,"port":null,"sslPort":null,"payload":null,"registrationTimeUTC":0,` +
			`"serviceType":"DYNAMIC","uriSpec":null}`,
	},
	{
		"enabled, a spec without parts, and numbers that are no ports",
		discovery.ServiceInstance{
			Name: "orders", ID: "7", Type: discovery.Static, Enabled: pointer(true), URISpec: &discovery.URISpec{Parts: []discovery.URIPart{}},
			Port: pointer(-1), SSLPort: pointer(70000),
		},
		`{"name":"orders","id":"7","address":null,"port":-1,"sslPort":70000,"payload":null,"registrationTimeUTC":0,` +
			`"serviceType":"STATIC","uriSpec":{"parts":[]},"enabled":true}`,
	},
	{
		"characters",
		discovery.ServiceInstance{
			Name: "a\"<>&é", ID: "7", Address: "<&>", Type: discovery.Permanent, Payload: json.RawMessage(`"<é>"`),
			URISpec: &discovery.URISpec{Parts: []discovery.URIPart{part("?a&b", false)}},
		},
		`{"name":"a\"<>&é","id":"7","address":"<&>","port":null,"sslPort":null,"payload":"<é>","registrationTimeUTC":0,` +
			`"serviceType":"PERMANENT","uriSpec":{"parts":[{"value":"?a&b","variable":false}]}}`,
	},
}

func part(value string, variable bool) discovery.URIPart {
	return discovery.URIPart{Value: value, Variable: variable}
}

func TestInstancesAreWrittenAsJavaWritesThem(t *testing.T) {
	for _, w := range written {
		if got, err := w.instance.MarshalJSON(); string(got) != w.bytes || err != nil {
			t.Errorf("%s: got %s, %v, want %s", w.name, got, err, w.bytes)
		}
	}
}

func TestInstancesOfJavaAreRead(t *testing.T) {
	for _, w := range written {
		var got discovery.ServiceInstance
		if err := json.Unmarshal([]byte(w.bytes), &got); err != nil || !reflect.DeepEqual(got, w.instance) {
			t.Errorf("%s: got %+v, %v, want %+v", w.name, got, err, w.instance)
		}
	}
}

// A type that is not set, and a URI spec without a list, are written as Java can read them.
func TestWhatIsNotSetIsWrittenAsItsDefault(t *testing.T) {
	i := discovery.ServiceInstance{Name: "orders", ID: "7", Payload: json.RawMessage{}, URISpec: &discovery.URISpec{}}
	for _, want := range []string{`"serviceType":"DYNAMIC"`, `"uriSpec":{"parts":[]}`, `"payload":null`} {
		if got := string(data(t, i)); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s in it", got, want)
		}
	}
}

// dubbo-go writes six fields, and others write them in another order.
func TestFieldsAreReadInAnyOrderAndMayBeMissing(t *testing.T) {
	for _, text := range []string{
		`{"id":"7","name":"orders"}`,
		` {"serviceType":null,"enabled":null,"registrationTimeUTC":null,"address":null,"id":"7" , "name":"orders"} `,
		`{"uriSpec":null,"name":"orders","registrationTimeUTC":0,"payload":null,"sslPort":null,"port":null,"id":"7","address":""}`,
	} {
		var got discovery.ServiceInstance
		want := discovery.ServiceInstance{Name: "orders", ID: "7", Type: discovery.Dynamic}
		if err := json.Unmarshal([]byte(text), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", text, got, err, want)
		}
		if !got.IsEnabled() {
			t.Errorf("%s: got a disabled instance, want one that is enabled", text)
		}
	}
}

func TestAnInstanceIsEnabledUnlessItSaysOtherwise(t *testing.T) {
	for field, want := range map[string]bool{"": true, `,"enabled":true`: true, `,"enabled":false`: false} {
		var i discovery.ServiceInstance
		if err := json.Unmarshal([]byte(`{"name":"orders","id":"7"`+field+`}`), &i); err != nil || i.IsEnabled() != want {
			t.Errorf("%q: got enabled %t, %v, want %t", field, i.IsEnabled(), err, want)
		}
	}
}

// The names of fields differ in case, as in Java: package json would take "ID" for the ID.
func TestUnknownFieldsPassThrough(t *testing.T) {
	text := `{"name":"orders","ID":"x","id":"7","later":{"b": [1.50, "<"]},"address":null,"Port":null}`
	var i discovery.ServiceInstance
	must(t, json.Unmarshal([]byte(text), &i))
	if got := fmt.Sprintf("%s %s", i.ID, i.Extra); got != `7 map[ID:"x" Port:null later:{"b": [1.50, "<"]}]` {
		t.Errorf("got ID and Extra %s", got)
	}
	want := `{"name":"orders","id":"7","address":null,"port":null,"sslPort":null,"payload":null,"registrationTimeUTC":0,` +
		`"serviceType":"DYNAMIC","uriSpec":null,"ID":"x","Port":null,"later":{"b":[1.50,"<"]}}`
	if got := string(data(t, i)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Such names are several parts of a path in Java. A discovery whose base path has all but the last finds the instances.
func TestNamesAndIDsMayHaveSlashes(t *testing.T) {
	var i discovery.ServiceInstance
	if err := json.Unmarshal([]byte(`{"name":"shop/orders","id":"host/8080"}`), &i); err != nil || i.Name != "shop/orders" || i.ID != "host/8080" {
		t.Errorf("got %+v, %v, want the name shop/orders and the ID host/8080", i, err)
	}
}

// A class that Go does not have, and numbers that a float64 does not have.
func TestPayloadsPassThrough(t *testing.T) {
	for _, payload := range []string{
		`{"@class":"no.such.Class","id":9007199254740993,"f":1.10}`, `["java.lang.Long",9223372036854775807]`, `"text"`, `1e400`, `false`, `[]`,
	} {
		var i discovery.ServiceInstance
		must(t, json.Unmarshal([]byte(`{"name":"orders","id":"7","payload":`+payload+`}`), &i))
		if got := string(data(t, i)); string(i.Payload) != payload || !strings.Contains(got, `"payload":`+payload+`,"`) {
			t.Errorf("got the payload %s, written in %s, want %s", i.Payload, got, payload)
		}
	}
}

func TestAnInstanceIsRefusedWithEverythingThatIsWrongWithIt(t *testing.T) {
	i := discovery.ServiceInstance{
		ID: "\xff", Address: "\xff", Payload: json.RawMessage(`{`), Type: "SOMETIMES",
		Extra: map[string]json.RawMessage{"port": json.RawMessage(`1`), "x": json.RawMessage(`}`), "y": nil},
	}
	_, err := i.MarshalJSON()
	wantTexts(t, err, `name ""`, `id "\xff"`, `address "\xff"`, "payload: not JSON", `serviceType: unknown "SOMETIMES"`,
		`Extra: "port" has a field`, `Extra: "x" is not JSON`, `Extra: "y" is not JSON`)
}

func TestANodeIsRefusedWithEverythingThatIsWrongWithIt(t *testing.T) {
	text := `{"name":7,"id":"","address":[],"port":2147483648,"sslPort":80.5,"registrationTimeUTC":"now","serviceType":"SOMETIMES",` +
		`"uriSpec":[],"enabled":"yes"}`
	i := order("7", 80)
	err := i.UnmarshalJSON([]byte(text))
	wantTexts(t, err, "name: json: ", `id ""`, "address: json: ", "port: ", "sslPort: json: ", "registrationTimeUTC: json: ",
		`serviceType: unknown "SOMETIMES"`, "uriSpec: json: ", "enabled: json: ")
	if brief(i) != "7:80" {
		t.Errorf("got the instance %s, want it as it was", brief(i))
	}
}

func TestWhatIsNoObjectIsNoInstance(t *testing.T) {
	for _, text := range []string{"", "null", "[]", `"orders"`, "{", `{"name":"orders","id":"7"} {`, "\x00\x01", `{"name":"","id":""}`} {
		var i discovery.ServiceInstance
		if err := json.Unmarshal([]byte(text), &i); err == nil {
			t.Errorf("%q: got %+v, want an error", text, i)
		}
	}
}

// Java's reader fails for the whole service on bytes that are not UTF-8, and Go's on a node with too many levels.
func TestTextsThatNoReaderTakesAreRefusedAndNotReplaced(t *testing.T) {
	const bad = "\"\xff\""
	deep := json.RawMessage(strings.Repeat("[", 10000) + strings.Repeat("]", 10000))
	for want, change := range map[string]func(i *discovery.ServiceInstance){
		"payload: not JSON, in UTF-8": func(i *discovery.ServiceInstance) { i.Payload = json.RawMessage(bad) },
		"of less than 10000 levels":   func(i *discovery.ServiceInstance) { i.Payload = deep },
		`Extra: "x" is not JSON`:      func(i *discovery.ServiceInstance) { i.Extra = map[string]json.RawMessage{"x": json.RawMessage(bad)} },
		`Extra: "deep" is not JSON`:   func(i *discovery.ServiceInstance) { i.Extra = map[string]json.RawMessage{"deep": deep} },
		`uriSpec: "\xff" is not UTF-8`: func(i *discovery.ServiceInstance) {
			i.URISpec = &discovery.URISpec{Parts: []discovery.URIPart{part("\xff", false)}}
		},
		`payload: not JSON, in UTF-8, of `: func(i *discovery.ServiceInstance) { i.Payload = json.RawMessage("1,2") },
	} {
		i := order("7", 80)
		change(&i)
		_, err := i.MarshalJSON()
		wantTexts(t, err, want)
	}
	var i discovery.ServiceInstance
	wantTexts(t, i.UnmarshalJSON([]byte(`{"name":"orders","id":"7","address":`+bad+`}`)), "not UTF-8")
	most := order("7", 80)
	most.Payload = deep[1 : len(deep)-1]
	if err := i.UnmarshalJSON(data(t, most)); err != nil {
		t.Errorf("a payload of 9999 levels: got %v, want none", err)
	}
}

func wantTexts(t *testing.T, err error, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got the error %v, want %q in it", err, text)
		}
	}
	if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("got the error %q, want one line", err)
	}
}
