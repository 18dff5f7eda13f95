package locks_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
	"github.com/gocurator/curator/recipes/shared"
	"github.com/gocurator/curator/retry"
)

const credentials = "user:hunter2"

// No exported type of these packages shows a client's credentials, however it is printed. Lock data is no secret: it
// stands in nodes for others to read.
func TestNoExportedTypeShowsACredential(t *testing.T) {
	inBubble(t, func(t *testing.T, server *zktest.Server) {
		p := newPeer(t, server, framework.WithAuthorization("digest", []byte(credentials)))
		mutex := p.mutex(locks.WithLockData([]byte("a worker")))
		lease := acquire(t, mutex)
		t.Cleanup(func() { _ = lease.Release() })
		rw := locks.NewInterProcessReadWriteLock(p.Client, "/rw")
		count := shared.NewSharedCount(p.Client, limitPath, 1)
		if err := count.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = count.Close() })
		all, err := mutex.Participants(t.Context())
		if err != nil || len(all) != 1 {
			t.Fatalf("got %v, %v", all, err)
		}
		_, acquireErr := p.mutex().TryAcquire(t.Context())
		_, dialErr := framework.NewClient(credentials+"@zk:2181", framework.WithAuthorization("digest", []byte(credentials)))
		printable(t, ".", map[string]any{
			"Lease": lease, "InterProcessMutex": mutex, "ReadLock": rw.ReadLock(), "WriteLock": rw.WriteLock(),
			"InterProcessReadWriteLock": rw, "InterProcessMultiLock": locks.NewInterProcessMultiLock(mutex, rw.ReadLock()),
			"InterProcessSemaphoreV2":    locks.NewInterProcessSemaphoreV2WithCount(p.Client, "/s", count),
			"InterProcessSemaphoreMutex": locks.NewInterProcessSemaphoreMutex(p.Client, "/m"),
			"Lock":                       locks.Within(mutex, time.Second), "Option": locks.WithLockData([]byte("a worker")), "Participant": all[0],
			"AcquireError": acquireErr, "LostError": &locks.LostError{Path: path, Session: 1, Reason: dialErr},
			"ReleaseError": &locks.ReleaseError{Path: path, Err: dialErr}, "Trace": locks.Trace{}, "Waiting": locks.Waiting{Path: path},
			"AcquireStart": locks.AcquireStart{Path: path}, "AcquireEnd": locks.AcquireEnd{Path: path, Err: acquireErr},
			"Released": locks.Released{Err: dialErr}, "Lost": locks.Lost{Err: dialErr},
			"RetainedLock": locks.Retain(mutex), "RetainOption": locks.Idle(time.Second), "Dropped": locks.Dropped{Path: path},
			"RevocationRequested": locks.RevocationRequested{Path: path},
		})
		printable(t, "../shared", map[string]any{"SharedCount": count, "VersionedValue": count.VersionedValue()})
		gaveUp := retry.Do(t.Context(), retry.NTimes(1, 0), func(context.Context) error { return dialErr })
		if !errors.As(gaveUp, new(*retry.Error)) {
			t.Fatal(gaveUp)
		}
		printable(t, "../../retry", map[string]any{"Error": gaveUp, "Pace": new(retry.Pace), "Policy": retry.NTimes(1, 0)})
	})
}

// printable checks that every exported type of the package in dir has a value here, and that no form of it shows the
// credentials.
func printable(t *testing.T, dir string, values map[string]any) {
	t.Helper()
	for _, name := range exportedTypes(t, dir) {
		value, ok := values[name]
		if !ok {
			t.Errorf("type %s of %s is not in this test", name, dir)
		}
		for form, text := range printedForms(value) {
			if shown := credentialIn(text); shown != "" {
				t.Errorf("%s of %s as %s shows %s: %s", name, dir, form, shown, text)
			}
		}
	}
}

// credentialIn returns the form of the password that text has, or nothing.
func credentialIn(text string) string {
	raw, password := []byte(credentials), []byte("hunter2")
	for _, form := range []string{
		string(password), strings.Trim(fmt.Sprintf("%d", password), "[]"),
		strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", password), "[]byte{"), "}"),
		base64.StdEncoding.EncodeToString(raw), fmt.Sprintf("%x", password),
	} {
		if strings.Contains(text, form) {
			return form
		}
	}
	return ""
}

// printedForms is a value in every form in which it may get into a log.
func printedForms(value any) map[string]string {
	forms := map[string]string{}
	for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
		forms[verb] = fmt.Sprintf(verb, value)
	}
	var text, json bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("x", "value", value)
	slog.New(slog.NewJSONHandler(&json, nil)).Info("x", "value", value)
	forms["slog text"], forms["slog JSON"] = text.String(), json.String()
	return forms
}

// exportedTypes are the names of the exported types of the package in dir.
func exportedTypes(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no files: %v", dir, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				names = append(names, spec.Name.Name)
			}
			return true
		})
	}
	return names
}
