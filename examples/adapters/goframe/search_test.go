package goframeregistry_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

func TestSearchChoosesByPrefixNameVersionAndMetadata(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		ours := services(t, zk.DialContext)
		wantFound(t, ours, gsvcSearchInput{Prefix: prefix}, "") // there is no directory yet
		wantFound(t, ours, gsvcSearchInput{Name: "hello"}, "")
		newer, other := hello("b:1"), hello("c:1")
		newer.version, other.name = "v2", "other"
		for _, s := range []gsvcService{hello("a:1"), newer, other} {
			register(t, ours, s)
		}
		for _, tt := range []struct {
			in   gsvcSearchInput
			want string
		}{
			{gsvcSearchInput{}, "a:1 b:1 c:1"},
			{gsvcSearchInput{Name: "hello"}, "a:1 b:1"},
			{gsvcSearchInput{Prefix: prefix}, "a:1"},
			{gsvcSearchInput{Prefix: prefix, Name: "other"}, ""},
			{gsvcSearchInput{Prefix: "/service-default/default/hello/latest"}, ""}, // in the same directory
			{gsvcSearchInput{Version: "v2"}, "b:1"},
			{gsvcSearchInput{Metadata: gsvcMetadata{"weight": 3}}, "a:1 b:1 c:1"},
			{gsvcSearchInput{Metadata: gsvcMetadata{"weight": 4}}, ""},
			{gsvcSearchInput{Metadata: gsvcMetadata{"zone": "a"}}, ""},
		} {
			wantFound(t, ours, tt.in, tt.want)
		}
	})
}

func TestNodesThatAreNoServicesAreLeftOut(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		log := warnings{count: make(chan string, 100)}
		ours := registryOf(connect(t, zk.DialContext, framework.WithLogger(slog.New(log))))
		register(t, ours, hello("a:1"))
		for name, data := range map[string]string{
			"bad": "{", "empty": "", "key": `{"Key":"/a","Value":"{}"}`, "panics": `{"Key":"/s/d/n/hello/v/address","Value":"{}"}`,
		} {
			if err := zk.Create(dir+"/"+name, []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		wantServices(t, ours, "a:1")
		wantFound(t, ours, gsvcSearchInput{Name: "hello"}, "a:1")
		time.Sleep(time.Second) // the client logs in the background
		if got, want := len(log.count), 8; got != want {
			t.Errorf("got %d warnings, want %d: four nodes, read twice", got, want)
		}
		follow(t, ours).want(t, "the first", "a:1")
	})
}
