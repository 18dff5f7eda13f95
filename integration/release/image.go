package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// Media types of the OCI image format.
const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
	mediaConfig   = "application/vnd.oci.image.config.v1+json"
	mediaLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// user is whom the image runs as: no user of the host, and not root.
const user = "65532"

type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int               `json:"size"`
		Platform    *platform         `json:"platform,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	index struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Manifests     []descriptor `json:"manifests"`
	}
	manifest struct {
		SchemaVersion int          `json:"schemaVersion"`
		MediaType     string       `json:"mediaType"`
		Config        descriptor   `json:"config"`
		Layers        []descriptor `json:"layers"`
	}
	imageConfig struct {
		platform

		Created string        `json:"created"`
		Config  runtimeConfig `json:"config"`
		RootFS  rootFS        `json:"rootfs"`
		History []historyLine `json:"history"`
	}
	rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	historyLine struct {
		Created   string `json:"created"`
		CreatedBy string `json:"created_by"`
	}
	runtimeConfig struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts,omitempty"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
	}
)

// A layout is the directory of an OCI image, as files of an archive.
type layout struct{ files []file }

// add stores a blob and describes it.
func (l *layout) add(mediaType string, data []byte) descriptor {
	sum := digest(data)
	name := "blobs/sha256/" + sum
	if !slices.ContainsFunc(l.files, func(f file) bool { return f.name == name }) {
		l.files = append(l.files, file{name, 0o644, data})
	}
	return descriptor{MediaType: mediaType, Digest: "sha256:" + sum, Size: len(data)}
}

func (l *layout) addJSON(mediaType string, value any) (descriptor, error) {
	text, err := json.Marshal(value)
	return l.add(mediaType, text), err
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// An image is a program for several processors, each with a root directory that has nothing else to run.
type image struct {
	config   runtimeConfig
	when     time.Time
	licence  []byte
	program  string
	version  string
	programs map[target][]byte
}

// archive is the image as a tar of an OCI layout: what skopeo and podman call oci-archive, and docker load reads.
func (i image) archive() ([]byte, error) {
	var l layout
	inner := index{SchemaVersion: 2, MediaType: mediaIndex}
	for _, t := range targets {
		program, has := i.programs[t]
		if !has {
			continue
		}
		d, err := i.addTarget(&l, t, program)
		if err != nil {
			return nil, err
		}
		inner.Manifests = append(inner.Manifests, d)
	}
	d, err := l.addJSON(mediaIndex, inner)
	if err != nil {
		return nil, err
	}
	name := "localhost/" + i.program + ":" + i.version // what podman and docker call it once it is loaded
	d.Annotations = map[string]string{"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name}
	top, err := json.Marshal(index{SchemaVersion: 2, MediaType: mediaIndex, Manifests: []descriptor{d}})
	if err != nil {
		return nil, err
	}
	l.files = append(l.files,
		file{"index.json", 0o644, top},
		file{"oci-layout", 0o644, []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		file{"blobs/", 0o755, nil}, file{"blobs/sha256/", 0o755, nil})
	var out bytes.Buffer
	err = writeTar(&out, l.files, i.when)
	return out.Bytes(), err
}

// addTarget adds what one processor runs, and describes its manifest.
func (i image) addTarget(l *layout, t target, program []byte) (descriptor, error) {
	var root bytes.Buffer
	if err := writeTar(&root, []file{
		{"etc/", 0o755, nil},
		{"etc/passwd", 0o644, []byte("nonroot:x:" + user + ":" + user + "::/:/sbin/nologin\n")},
		{"etc/group", 0o644, []byte("nonroot:x:" + user + ":\n")},
		{"tmp/", 0o1777, nil},
		{"LICENSE", 0o644, i.licence},
		{i.program, 0o755, program},
	}, i.when); err != nil {
		return descriptor{}, err
	}
	layer, err := compress(root.Bytes())
	if err != nil {
		return descriptor{}, err
	}
	created, where := i.when.UTC().Format(time.RFC3339), platform{t.arch, t.os}
	config, err := l.addJSON(mediaConfig, imageConfig{
		platform: where, Created: created, Config: i.config,
		RootFS:  rootFS{"layers", []string{"sha256:" + digest(root.Bytes())}},
		History: []historyLine{{created, "integration/release"}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := l.addJSON(mediaManifest, manifest{
		SchemaVersion: 2, MediaType: mediaManifest, Config: config, Layers: []descriptor{l.add(mediaLayer, layer)},
	})
	d.Platform = &where
	return d, err
}
