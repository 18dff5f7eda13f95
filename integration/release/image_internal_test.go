package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// entries reads a tar.
func entries(t *testing.T, r io.Reader) map[string]file {
	t.Helper()
	all := map[string]file{}
	for archive := tar.NewReader(r); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		all[h.Name] = file{h.Name, h.Mode, data}
	}
}

// blob reads what a descriptor names, after it has compared size and digest.
func blob(t *testing.T, files map[string]file, d descriptor) []byte {
	t.Helper()
	data := files["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")].data
	if "sha256:"+digest(data) != d.Digest || len(data) != d.Size {
		t.Fatalf("%s: got %d bytes with another digest or size", d.Digest, len(data))
	}
	return data
}

func decode(t *testing.T, data []byte, value any) {
	t.Helper()
	if err := json.Unmarshal(data, value); err != nil {
		t.Fatal(err)
	}
}

// unpack writes the root directory of the image for this processor, and returns its program.
func unpack(t *testing.T, name string) (program string, config imageConfig) {
	t.Helper()
	f, err := os.Open(name) //nolint:gosec // a test's
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	files := entries(t, f)
	var top, inner index
	var m manifest
	decode(t, files["index.json"].data, &top)
	program, _, _ = strings.Cut(filepath.Base(name), "_")
	if got := top.Manifests[0].Annotations["org.opencontainers.image.ref.name"]; got != "localhost/"+program+":"+version {
		t.Errorf("got the name %q for the image of %s", got, program)
	}
	decode(t, blob(t, files, top.Manifests[0]), &inner)
	decode(t, blob(t, files, inner.Manifests[0]), &m)
	decode(t, blob(t, files, m.Config), &config)
	root := t.TempDir()
	for i, layer := range m.Layers {
		z, err := gzip.NewReader(bytes.NewReader(blob(t, files, layer)))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := io.ReadAll(z)
		if err != nil || "sha256:"+digest(plain) != config.RootFS.DiffIDs[i] {
			t.Fatalf("layer %d: got %v or another digest than the configuration's", i, err)
		}
		for _, e := range entries(t, bytes.NewReader(plain)) {
			path := filepath.Join(root, e.name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a test's
				t.Fatal(err)
			}
			if strings.HasSuffix(e.name, "/") {
				err = os.MkdirAll(path, 0o755) //nolint:gosec // a test's
			} else {
				err = os.WriteFile(path, e.data, os.FileMode(e.mode)&0o777) //nolint:gosec // a test's
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Join(root, config.Config.Entrypoint[0]), config
}

func TestTheProgramsOfTheImagesRunFromTheirUnpackedRoots(t *testing.T) {
	dir := filepath.Join(rehearsalOf(t).work, "files")
	programs := map[string]string{}
	for _, name := range []string{"testserver", "zklock"} {
		found, err := filepath.Glob(filepath.Join(dir, name+"_*_image.tar"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		program, config := unpack(t, found[0])
		programs[name] = program
		if config.Config.User != "65532:65532" || config.Config.Labels["org.opencontainers.image.title"] != name {
			t.Errorf("%s: got user %q and labels %v", name, config.Config.User, config.Config.Labels)
		}
	}
	server := exec.CommandContext(t.Context(), programs["testserver"], "-listen", "127.0.0.1:0", "-playground", "127.0.0.1:0") //nolint:gosec // ours
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	addr := strings.TrimSpace(line)
	page, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	servesPlayground(t, strings.TrimSpace(page[strings.LastIndex(page, " ")+1:]))
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("ruok")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(conn); err != nil || string(got) != "imok" {
		t.Errorf("ruok: got %q and %v, want imok", got, err)
	}
	if got, err := command(t.Context(), "", nil, programs["zklock"], "ls", "-zk", addr, "/"); err != nil {
		t.Errorf("zklock ls: got %q and %v", got, err)
	}
}

// servesPlayground fails unless an address has the page and its program.
func servesPlayground(t *testing.T, address string) {
	t.Helper()
	for name, want := range map[string]string{"": "<!DOCTYPE html>", "playground.wasm.gz": "\x1f\x8b", "recording.json": "{"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(string(got), want) {
			t.Errorf("%q: got %s, %v and %d bytes, want a file that begins with %q", name, answer.Status, err, len(got), want)
		}
	}
}
