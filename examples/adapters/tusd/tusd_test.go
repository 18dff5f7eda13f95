package tusdlock_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tus/tusd/v2/pkg/filestore"
	"github.com/tus/tusd/v2/pkg/handler"
	"golang.org/x/exp/slog"

	tusdlock "github.com/gocurator/curator/examples/adapters/tusd"
	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/locks"
)

const (
	timeout = 40 * time.Second // the session timeout
	grace   = 10 * time.Second
)

func connect(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error)) *framework.Client {
	t.Helper()
	client, err := framework.NewClient("any:2181", framework.WithDialer(dial), framework.WithSessionTimeout(timeout))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// A tusd is a server of uploads, several of which share a directory.
type tusd struct {
	t *testing.T
	*handler.Handler
}

func serve(t *testing.T, dir string, dial func(ctx context.Context, network, address string) (net.Conn, error)) tusd {
	t.Helper()
	composer := handler.NewStoreComposer()
	filestore.New(dir).UseIn(composer)
	tusdlock.NewLocker(connect(t, dial), "/uploads", grace).UseIn(composer)
	h, err := handler.NewHandler(handler.Config{
		StoreComposer: composer, BasePath: "/files/", GracefulRequestCompletionTimeout: grace,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { time.Sleep(2 * grace) }) // tusd has a goroutine for each request that ends so much later
	return tusd{t, h}
}

// do makes a request, with headers as name, value, name, value.
func (s tusd) do(method, path string, body io.Reader, headers ...string) *httptest.ResponseRecorder {
	ctx, cancel := context.WithCancel(s.t.Context()) // as net/http's, it ends with the request
	defer cancel()
	request := httptest.NewRequestWithContext(ctx, method, path, body)
	request.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	http.StripPrefix("/files/", s).ServeHTTP(w, request)
	return w
}

// create makes an upload of so many bytes, and returns its path.
func (s tusd) create(size int) string {
	s.t.Helper()
	w := s.do("POST", "/files/", nil, "Upload-Length", strconv.Itoa(size))
	if w.Code != http.StatusCreated {
		s.t.Fatalf("POST: got %d %s, want 201", w.Code, w.Body)
	}
	location := w.Header().Get("Location")
	return location[strings.Index(location, "/files/"):]
}

func (s tusd) patch(path string, offset int, body io.Reader) *httptest.ResponseRecorder {
	return s.do("PATCH", path, body, "Upload-Offset", strconv.Itoa(offset), "Content-Type", "application/offset+octet-stream")
}

func TestRequestAtAnotherServerInterruptsAnUploadThatHangsAndGoesOnWithIt(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, dir := zktest.New(t), t.TempDir()
		first, second := serve(t, dir, zk.DialContext), serve(t, dir, zk.DialContext)
		path := first.create(10)

		body, sender := io.Pipe() // its connection hangs after five bytes
		defer sender.Close()
		hangs := make(chan *httptest.ResponseRecorder, 1)
		go func() { hangs <- first.patch(path, 0, body) }()
		if _, err := sender.Write([]byte("01234")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)

		start := time.Now()
		head := second.do("HEAD", path, nil)
		if got := head.Header().Get("Upload-Offset"); head.Code != http.StatusOK || got != "5" {
			t.Fatalf("HEAD: got %d with offset %q, want 200 with 5", head.Code, got)
		}
		if took := time.Since(start); took > time.Second {
			t.Errorf("the holder made room after %v, want less than a second", took)
		}
		if got := <-hangs; !strings.Contains(got.Body.String(), "ERR_UPLOAD_INTERRUPTED") {
			t.Errorf("the request that hung got %d %q, want ERR_UPLOAD_INTERRUPTED", got.Code, got.Body)
		}
		if got := second.patch(path, 5, strings.NewReader("56789")); got.Code != http.StatusNoContent {
			t.Errorf("the second half got %d %s, want 204", got.Code, got.Body)
		}
		stored, err := os.ReadFile(filepath.Join(dir, filepath.Base(path)))
		if string(stored) != "0123456789" || err != nil {
			t.Errorf("got %q, %v, want all ten digits", stored, err)
		}
		if got := zk.Children("/uploads/upload-" + filepath.Base(path)); len(got) != 0 {
			t.Errorf("the requests left the nodes %v, want none", got)
		}
	})
}

func TestUploadIsInterruptedWhileItsServerStillHasTheLockWhenTheLinkBreaks(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk, dir := zktest.New(t), t.TempDir()
		link := zk.NewLink()
		first, second := serve(t, dir, link.DialContext), serve(t, dir, zk.DialContext)
		path := first.create(1000)
		body, sender := io.Pipe()
		go first.patch(path, 0, body) // until its Unlock has timed out
		sent := 0
		interrupted := make(chan time.Time, 1)
		go func() {
			for {
				if _, err := sender.Write([]byte("x")); err != nil {
					interrupted <- time.Now()
					return
				}
				sent++
				time.Sleep(time.Second)
			}
		}()
		time.Sleep(30 * time.Second)

		link.Mute()
		var head *httptest.ResponseRecorder
		for head == nil || head.Code != http.StatusOK { // a request waits for twenty seconds
			head = second.do("HEAD", path, nil)
		}
		in := time.Now()
		select {
		case out := <-interrupted:
			if ahead := in.Sub(out); ahead < grace {
				t.Errorf("the upload was interrupted %v before the next request was let in, want at least %v", ahead, grace)
			}
			if got, want := head.Header().Get("Upload-Offset"), strconv.Itoa(sent); got != want {
				t.Errorf("got offset %s, want %s, all that was taken", got, want)
			}
		default:
			t.Error("the next request was let in while the upload was under way")
		}
	})
}

func TestLongUploadGoesOnWhileNobodyElseComes(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		server := serve(t, t.TempDir(), zktest.New(t).DialContext)
		path := server.create(100)
		body, sender := io.Pipe()
		go func() {
			defer sender.Close()
			for range 100 {
				_, _ = sender.Write([]byte("x"))
				time.Sleep(7 * time.Second)
			}
		}()
		if got := server.patch(path, 0, body); got.Code != http.StatusNoContent {
			t.Errorf("an upload of twelve minutes got %d %s, want 204", got.Code, got.Body)
		}
	})
}

// asked is a lock that is held, and a channel that is closed when its holder is asked to unlock.
func asked(t *testing.T, locker *tusdlock.Locker, id string) (lock handler.Lock, request chan struct{}) {
	t.Helper()
	request = make(chan struct{})
	lock, err := locker.NewLock(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Lock(t.Context(), func() { close(request) }); err != nil {
		t.Fatal(err)
	}
	return lock, request
}

// await fails the test unless the holder is asked to unlock within a minute.
func await(t *testing.T, request <-chan struct{}) (at time.Time) {
	t.Helper()
	select {
	case <-request:
	case <-time.After(time.Minute):
		t.Error("the holder was not asked to unlock within a minute")
	}
	return time.Now()
}

func TestHolderIsAskedToUnlockTheGraceBeforeItsLeaseEnds(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		link := zktest.New(t).NewLink()
		client := connect(t, link.DialContext)
		early, warned := asked(t, tusdlock.NewLocker(client, "/uploads", grace), "a")
		late, lost := asked(t, tusdlock.NewLocker(client, "/uploads", 0), "b")
		link.Cut()
		warnedAt, lostAt := await(t, warned), await(t, lost)
		if got := lostAt.Sub(warnedAt); got < grace || got > grace+time.Second {
			t.Errorf("the holder was asked %v before the loss, want %v", got, grace)
		}
		for _, lock := range []handler.Lock{early, late} {
			if err := lock.Unlock(); !errors.Is(err, locks.ErrLeaseLost) {
				t.Errorf("Unlock: got %v, want ErrLeaseLost", err)
			}
		}
	})
}

func TestWaitForAHolderThatStaysEndsWithErrLockTimeoutAndLeavesNoNode(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		holder, request := asked(t, tusdlock.NewLocker(connect(t, zk.DialContext), "/uploads", grace), "a/b")
		waiter, err := tusdlock.NewLocker(connect(t, zk.DialContext), "/uploads", grace).NewLock("a/b")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := waiter.Lock(ctx, nil); !errors.Is(err, handler.ErrLockTimeout) {
			t.Errorf("got %v, want ErrLockTimeout", err)
		}
		await(t, request)
		time.Sleep(time.Second) // the node is removed in the background
		if got := zk.Children("/uploads/upload-a%2Fb"); len(got) != 1 {
			t.Errorf("the lock has the nodes %v, want the holder's alone", got)
		}
		if err := holder.Unlock(); err != nil {
			t.Errorf("Unlock: got %v, want nil", err)
		}
	})
}

func TestOperatorCanAskAHolderToUnlock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		client := connect(t, zk.DialContext)
		lock, request := asked(t, tusdlock.NewLocker(client, "/uploads", grace), "a")
		time.Sleep(time.Second)
		if err := locks.AttemptRevoke(t.Context(), client, "/uploads/upload-a/"+zk.Children("/uploads/upload-a")[0]); err != nil {
			t.Fatal(err)
		}
		await(t, request)
		if err := lock.Unlock(); err != nil {
			t.Errorf("Unlock: got %v, want nil", err)
		}
	})
}

func TestHolderWhoseNodeIsRemovedIsAskedToUnlock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		zk := zktest.New(t)
		lock, request := asked(t, tusdlock.NewLocker(connect(t, zk.DialContext), "/uploads", grace), "a")
		time.Sleep(time.Second)
		start := time.Now()
		if err := zk.Delete("/uploads/upload-a/" + zk.Children("/uploads/upload-a")[0]); err != nil {
			t.Fatal(err)
		}
		await(t, request)
		if took := time.Since(start); took > time.Second {
			t.Errorf("the holder was asked after %v, want less than a second", took)
		}
		if err := lock.Unlock(); !errors.Is(err, locks.ErrLeaseLost) {
			t.Errorf("Unlock: got %v, want ErrLeaseLost", err)
		}
	})
}

func TestNobodyIsAskedAfterUnlock(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		lock, request := asked(t, tusdlock.NewLocker(connect(t, zktest.New(t).DialContext), "/uploads", grace), "a")
		if err := lock.Unlock(); err != nil {
			t.Errorf("Unlock: got %v, want nil", err)
		}
		select {
		case <-request:
			t.Error("requestUnlock was called by Unlock, want no call")
		case <-time.After(time.Minute):
		}
	})
}
