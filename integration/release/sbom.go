package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
)

// A bom is a list of what a program was made from, in CycloneDX 1.5.
type bom struct {
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	SerialNumber string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp  string     `json:"timestamp"`
	Component  component  `json:"component"`
	Properties []property `json:"properties"`
}

type component struct {
	Ref        string     `json:"bom-ref"`
	Type       string     `json:"type"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref string   `json:"ref"`
	On  []string `json:"dependsOn"`
}

// billOfMaterials describes a program by what Go has written into it: its modules, with their sums, the version of Go,
// whose standard library is a module as well, and the settings of the build. Its serial number follows from the
// program, so that the same program has the same bill. Modules of this repository that were built from the directories
// beside the program have its version.
func billOfMaterials(name string, program []byte, info *debug.BuildInfo, when time.Time) ([]byte, error) {
	sum := sha256.Sum256(program)
	main := moduleComponent("application", &info.Main)
	main.Name, main.Hashes = name, []hash{{"SHA-256", hex.EncodeToString(sum[:])}}
	if inside, found := strings.CutPrefix(info.Path, info.Main.Path+"/"); found {
		main.URL += "#" + inside
	}
	main.Ref = main.URL
	b := bom{
		Format: "CycloneDX", SpecVersion: "1.5", Version: 1, SerialNumber: serialNumber(sum),
		Metadata:     metadata{Timestamp: when.UTC().Format(time.RFC3339), Component: main, Properties: []property{}},
		Components:   []component{},
		Dependencies: []dependency{},
	}
	for _, s := range info.Settings {
		b.Metadata.Properties = append(b.Metadata.Properties, property{"go:build:" + s.Key, s.Value})
	}
	std := debug.Module{Path: "std", Version: strings.TrimPrefix(info.GoVersion, "go")}
	needs := dependency{Ref: main.Ref, On: []string{}}
	for _, m := range append(info.Deps, &std) {
		if m.Replace != nil && ofThisRepository(m.Path) {
			m = &debug.Module{Path: m.Path, Version: info.Main.Version}
		} else if m.Replace != nil {
			return nil, fmt.Errorf("%s is built with a replacement of %s, which nothing outside can name", name, m.Path)
		}
		c := moduleComponent("library", m)
		b.Components = append(b.Components, c)
		b.Dependencies = append(b.Dependencies, dependency{c.Ref, []string{}})
		needs.On = append(needs.On, c.Ref)
	}
	b.Dependencies = append(b.Dependencies, needs)
	text, err := json.MarshalIndent(b, "", "  ")
	return append(text, '\n'), err
}

func moduleComponent(kind string, m *debug.Module) component {
	link := (&url.URL{Path: "pkg:golang/" + m.Path + "@" + m.Version}).EscapedPath()
	c := component{Ref: link, Type: kind, Name: m.Path, Version: m.Version, URL: link}
	if m.Sum != "" {
		c.Properties = []property{{"go:sum", m.Sum}}
	}
	return c
}

// serialNumber makes a UUID of a program's sum, of version 8, whose bits are free.
func serialNumber(sum [sha256.Size]byte) string {
	id := sum[:16]
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
