package main

import (
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestABillOfMaterialsHasTheFieldsThatCycloneDXRequires(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.1", Main: debug.Module{Path: library, Version: version},
		Deps: []*debug.Module{{Path: "golang.org/x/sync", Version: "v0.22.0", Sum: "h1:x="}},
	}
	text, err := billOfMaterials("zklock", []byte("program"), info, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	var b bom
	decode(t, text, &b)
	if b.Format != "CycloneDX" || b.SpecVersion != "1.5" || b.Version != 1 || b.Metadata.Timestamp != "1970-01-01T00:00:00Z" {
		t.Errorf("got %s", text)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(b.SerialNumber) {
		t.Errorf("got the serial number %q", b.SerialNumber)
	}
	refs := map[string]bool{}
	for _, c := range append(b.Components, b.Metadata.Component) {
		if c.Name == "" || c.Type != "library" && c.Type != "application" || refs[c.Ref] ||
			!regexp.MustCompile(`^pkg:golang/\S+@\S+$`).MatchString(c.URL) {
			t.Errorf("got the component %+v", c)
		}
		refs[c.Ref] = true
	}
	if len(b.Components) != 2 || !refs["pkg:golang/std@1.26.1"] {
		t.Errorf("got %v, want x/sync and the standard library", refs)
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.On, d.Ref) {
			if !refs[ref] {
				t.Errorf("a dependency names %s, which is no component", ref)
			}
		}
	}
	info.Path = library + "/examples/testserver"
	info.Main.Path = library + "/examples"
	info.Deps = append(info.Deps, &debug.Module{Path: library, Version: "v0.0.0", Replace: &debug.Module{Path: ".."}})
	text, err = billOfMaterials("testserver", []byte("program"), info, time.Unix(0, 0))
	for _, want := range []string{`"pkg:golang/` + library + "@" + version + `"`, "/examples@" + version + "#testserver"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("got %v and\n%s\nwant %s, as the library was built from the same commit", err, text, want)
		}
	}
	info.Deps[0].Replace = &debug.Module{Path: "../sync"}
	if _, err := billOfMaterials("zklock", nil, info, time.Unix(0, 0)); err == nil {
		t.Error("got nil for a replaced module, want a refusal")
	}
}
