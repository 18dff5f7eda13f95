//go:build linux

package interop_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/nodes"
)

func TestPersistentNodesOfJavaAndGo(t *testing.T) {
	playAll(t, []story{
		{"ours is made again after Curator has taken it over", takenOver},
		{"ours waits for Curator's to go", waitsForCurators},
		{"ours replaces Curator's, which adopts it", replacesCurators},
		{"sequential ones stand side by side", sequentialNodes},
	})
}

// Curator's persistent node takes the node that it finds for its own: it writes its data there, and deletes it when it
// is closed. Ours stays ours by its owner, and is made again.
func takenOver(w *world) {
	t := w.t
	path, client := "/nodes/"+name("ours"), w.ourClient(w.addr)
	node := w.startNode(client, path, "go")
	first := w.awaitNode(path, client, "go")
	theirs := w.javaNode(path, "EPHEMERAL", "java")
	theirs.acquire(within(patience))
	if got := w.awaitNode(path, client, "java"); got.Czxid != first.Czxid {
		t.Errorf("czxid after Java's start: got %d, want %d, as Curator adopts", got.Czxid, first.Czxid)
	}
	if !node.There() || node.Err() != nil {
		t.Errorf("ours, with Java's data: got There() %v, Err() %v, want true, nil", node.There(), node.Err())
	}
	w.setNode(node, "go 2")
	w.awaitNode(path, client, "go 2")
	theirs.release()
	if got := w.awaitNode(path, client, "go 2"); got.Czxid == first.Czxid {
		t.Errorf("czxid after Java's close: got %d as before, want another, as Curator deletes the node", got.Czxid)
	}
	w.closeNode(node)
	w.awaitGone(path)
}

// Ours waits for Java's to go, and takes its place.
func waitsForCurators(w *world) {
	t := w.t
	path, client := "/nodes/"+name("theirs"), w.ourClient(w.addr)
	theirs := w.javaNode(path, "EPHEMERAL", "java")
	theirs.acquire(within(patience))
	before := w.awaitNode(path, nil, "java")

	node := nodes.NewPersistentNode(client, path, []byte("go"))
	started := make(chan error, 1)
	start := func() (cancel func()) {
		ctx, cancel := await.Context(t.Context(), t, patience, "our node to be there")
		go func() { started <- node.Start(ctx) }()
		await.Until(t, patience, "our node to find Java's", func() bool { return errors.Is(node.Err(), nodes.ErrForeign) })
		return cancel
	}
	cancel := start()
	cancel()
	if err := <-started; !errors.Is(err, nodes.ErrForeign) || !errors.Is(err, context.Canceled) {
		t.Errorf("start beside Java's: got %v, want %v and %v", err, nodes.ErrForeign, context.Canceled)
	}
	cancel = start()
	defer cancel()
	if now := w.awaitNode(path, nil, "java"); now != before {
		t.Errorf("Java's node beside ours: got %+v, want %+v", now, before)
	}
	theirs.release()
	if err := <-started; err != nil {
		t.Fatalf("start after Java's close: %v", err)
	}
	w.awaitNode(path, client, "go")
	w.closeNode(node)
	w.awaitGone(path)
}

// Ours replaces Java's node, and Curator adopts the new one: both count it as theirs, and the data are those of the
// last to write. That is the end of it.
func replacesCurators(w *world) {
	t := w.t
	path, client := "/nodes/"+name("both"), w.ourClient(w.addr)
	theirs := w.javaNode(path, "EPHEMERAL", "java")
	theirs.acquire(within(patience))
	node := w.startNode(client, path, "go", nodes.Overwriting())
	first := w.awaitNode(path, client, "")
	w.awaitVersion(path, 1) // Java has written
	w.setNode(node, "go 2")
	if now := w.awaitNode(path, client, "go 2"); now.Czxid != first.Czxid {
		t.Errorf("czxid after another Set: got %d, want %d", now.Czxid, first.Czxid)
	}
	if !node.There() {
		t.Errorf("ours, when Java has adopted it: got There() false, err %v, want true", node.Err())
	}
	theirs.release()
	w.awaitNode(path, client, "go 2")
	w.closeNode(node)
	w.awaitGone(path)
}

// Nodes under protection have names of one form, so neither language takes the other's for its own.
func sequentialNodes(w *world) {
	t := w.t
	dir, client := "/nodes/"+name("sequential"), w.ourClient(w.addr)
	theirs := w.javaNode(dir+"/n-", "EPHEMERAL_SEQUENTIAL", "java", func(o *godriver.Order) { o.Protect = true })
	javaName := theirs.acquire(within(patience)).Nodes[0]
	node := w.startNode(client, dir+"/n-", "go", nodes.WithMode(framework.EphemeralSequential))
	goName := last(node.Path())
	form := regexp.MustCompile(`^_c_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-n-\d{10}$`)
	for i, name := range []string{javaName, goName} {
		if want := fmt.Sprintf("%010d", i); !form.MatchString(name) || number(name) != want {
			t.Errorf("name %d: got %q, want the form %v with the number %s", i, name, form, want)
		}
	}
	// The server ends both sessions. Both make their nodes again, under the same names.
	for _, session := range []string{theirs.session, w.sessionOf(client)} {
		w.takeSession(session)
	}
	w.awaitNode(dir+"/"+javaName, nil, "java")
	w.awaitNode(dir+"/"+goName, client, "go")
	theirs.release()
	w.awaitChildren(dir, 1)
	w.closeNode(node)
	w.awaitChildren(dir, 0)
}

// javaNode makes a persistent node of Curator.
func (w *world) javaNode(path, mode, data string, hows ...how) *contender {
	w.t.Helper()
	order := godriver.Order{Recipe: "persistentnode", Path: path, Mode: mode, Data: &data}
	for _, h := range hows {
		h(&order)
	}
	return w.contender(java, order)
}

func (w *world) startNode(client *framework.Client, path, data string, opts ...nodes.Option) *nodes.PersistentNode {
	w.t.Helper()
	node := nodes.NewPersistentNode(client, path, []byte(data), opts...)
	ctx, cancel := await.Context(w.t.Context(), w.t, patience, "our node to be there")
	defer cancel()
	if err := node.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	return node
}

func (w *world) setNode(node *nodes.PersistentNode, data string) {
	w.t.Helper()
	ctx, cancel := await.Context(w.t.Context(), w.t, patience, "our node to have other data")
	defer cancel()
	if err := node.Set(ctx, []byte(data)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) closeNode(node *nodes.PersistentNode) {
	w.t.Helper()
	if err := node.Close(); err != nil {
		w.t.Error(err)
	}
}

// awaitVersion waits until a node has been written to.
func (w *world) awaitVersion(path string, version int32) {
	w.t.Helper()
	await.Until(w.t, patience, "a later version of "+path, func() bool {
		there, stat, err := w.observer.Exists(path)
		if err != nil {
			w.t.Fatalf("%s: %v", path, err)
		}
		return there && stat.Version >= version
	})
}

// awaitNode waits until a node has these data, or any for "", and belongs to the session of a client of ours, if there
// is one.
func (w *world) awaitNode(path string, owner *framework.Client, data string) zk.Stat {
	w.t.Helper()
	var got []byte
	stat := &zk.Stat{}
	if !await.Within(patience, func() bool {
		var err error
		got, stat, err = w.observer.Get(path)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			w.t.Fatalf("read %s: %v", path, err)
		}
		return err == nil && (data == "" || string(got) == data) && (owner == nil || fmt.Sprint(uint64(stat.EphemeralOwner)) == w.sessionOf(owner))
	}) {
		await.Fatalf(w.t, "%s to have %q: got %q, %+v", path, data, got, stat)
	}
	return *stat
}
