package lockopt_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/gocurator/curator/recipes/internal/lockopt"
)

// Two retained locks of a client share a node if their NodeSettings are equal, and in spite of all other options. A new
// option is a field of NodeSettings, unless a node can serve locks that differ in it: then it is named here.
func TestOptionsThatAreNotOfTheNodeAreNamed(t *testing.T) {
	options := reflect.TypeFor[lockopt.Options]()
	want := []string{"Node", "Trace", "Callers", "Waiting", "Problems", "Variant"}
	var got []string
	for i := range options.NumField() {
		got = append(got, options.Field(i).Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got fields %q, want %q, and new ones in NodeSettings if they matter for nodes", got, want)
	}
	if !reflect.TypeFor[lockopt.NodeSettings]().Comparable() {
		t.Error("got NodeSettings that cannot be compared, want them as part of a key")
	}
}

func TestNodeSettings(t *testing.T) {
	var none, empty, some lockopt.NodeSettings
	empty.OwnData = true
	some.OwnData, some.Data = true, "x"
	some.AddMarker("a-")
	some.AddMarker("b-")
	for name, test := range map[string]struct {
		settings lockopt.NodeSettings
		data     []byte
		markers  []string
	}{
		"none":       {none, nil, nil},
		"empty data": {empty, []byte{}, nil},
		"both":       {some, []byte("x"), []string{"a-", "b-"}},
	} {
		got := test.settings.Bytes()
		if string(got) != string(test.data) || (got == nil) != (test.data == nil) {
			t.Errorf("%s: got data %#v, want %#v", name, got, test.data)
		}
		if got := test.settings.Markers(); !slices.Equal(got, test.markers) {
			t.Errorf("%s: got markers %q, want %q", name, got, test.markers)
		}
	}
	if none == empty {
		t.Error("got equal settings of the default and of empty data, want others")
	}
}
