package discovery_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/gocurator/curator/recipes/discovery"
)

type metadata struct {
	ID       string            `json:"id"`
	Metadata map[string]string `json:"metadata"`
}

func withPayload(text string) discovery.ServiceInstance {
	i := order("7", 80)
	i.Payload = json.RawMessage(text)
	return i
}

func wantPayload[T any](t *testing.T, text string, want T) {
	t.Helper()
	if got, err := discovery.Payload[T](withPayload(text)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("payload %s: got %#v, %v, want %#v", text, got, err, want)
	}
}

// What Java writes, by Jackson 2.18, and what programs in other languages write.
func TestPayloadsAreDecodedWithAndWithoutTheirClass(t *testing.T) {
	wantPayload(t, `{"@class":"org.springframework.cloud.zookeeper.discovery.ZookeeperInstance","id":"a","name":"b","metadata":{"k":"v"}}`,
		metadata{"a", map[string]string{"k": "v"}})
	wantPayload(t, `{"id":"a"}`, metadata{ID: "a"})
	wantPayload(t, `{"@class":"java.util.HashMap","k":1}`, map[string]any{"@class": "java.util.HashMap", "k": 1.0})
	wantPayload(t, `"text"`, "text")
	wantPayload(t, `5`, 5)
	wantPayload(t, `["java.lang.Long",5]`, int64(5))
	wantPayload(t, `["java.lang.Float",1.5]`, 1.5)
	wantPayload(t, `["[B","AQI="]`, []byte{1, 2})
	wantPayload(t, `["java.util.ArrayList",["a","b"]]`, []string{"a", "b"})
	wantPayload(t, `["[Lshop.Order;",[{"id":"a"}]]`, []metadata{{ID: "a"}})
	wantPayload(t, ` [ "shop.Color" , "RED" ] `, "RED")
	wantPayload(t, `["shop.Things",{"id":"a"}]`, any(map[string]any{"id": "a"}))
}

// An array of two that begins with a text is a pair only if T can be the second.
func TestPayloadsThatAreArraysAreDecodedWhole(t *testing.T) {
	wantPayload(t, `["a","b"]`, []string{"a", "b"})
	wantPayload(t, `["a","b","c"]`, []string{"a", "b", "c"})
	wantPayload(t, `[1,2]`, []int{1, 2})
	wantPayload(t, `[1,2]`, any([]any{1.0, 2.0}))
	wantPayload(t, `[]`, []int{})
	wantPayload(t, `["a",{"x":1}]`, [2]any{"a", map[string]any{"x": 1.0}})
	wantPayload(t, `["a",["b",3]]`, []any{"b", 3.0}) // as Java takes it
}

func TestAMissingPayloadIsZero(t *testing.T) {
	for _, i := range []discovery.ServiceInstance{order("7", 80), withPayload("null")} {
		if got, err := discovery.Payload[metadata](i); err != nil || got.ID != "" {
			t.Errorf("payload %q: got %v, %v, want the zero value", i.Payload, got, err)
		}
	}
}

func TestAPayloadOfAnotherTypeIsAnErrorThatNamesTheInstance(t *testing.T) {
	for _, text := range []string{`"text"`, `["java.lang.Long",5]`, `{"id":5}`, `[{"id":"a"},{"id":7}]`} {
		got, err := discovery.Payload[metadata](withPayload(text))
		if wantTexts(t, err, `"7"`, `"orders"`, "metadata", "json: "); !reflect.DeepEqual(got, metadata{}) {
			t.Errorf("%s: got %v, want the zero value", text, got)
		}
	}
}
