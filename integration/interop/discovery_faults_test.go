//go:build linux

package interop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/interop/godriver"
	"github.com/gocurator/curator/recipes/discovery"
	"github.com/gocurator/curator/recipes/nodes"
)

// reconnections: Java registers everything again, with nodes of its own. Ours are not touched.
func reconnections(w *world) {
	m := newMarket(w, "job", false)
	ids := []string{"java-DYNAMIC", "java-STATIC", "go-DYNAMIC", "go-STATIC"}
	for i, kind := range []discovery.ServiceType{discovery.Dynamic, discovery.Static} {
		m.javaDoes("register", sample(m.service, m.payload, ids[i], kind))
		m.weRegister(sample(m.service, m.payload, ids[2+i], kind))
	}
	m.settle()
	before := m.czxids(ids)
	m.javaLink.cutAll()
	m.goLink.cutAll()
	m.awaitRegisteredAgain(ids[:2], before)
	m.weRegister(bare(m.service, m.payload, "go-bare")) // so our client is back
	m.settle()
	for _, id := range ids[:2] {
		if got := m.events.of(id); got != "created 8080, changed 8080" && got != "created 8080, deleted 8080, created 8080" {
			m.t.Errorf("events of %s, registered again: got %s, want one change, or one more deletion and creation", id, got)
		}
	}

	// Our cache is cut off meanwhile, so it reads once what comes of the deletion and the creation.
	known, again := m.events.of(ids[0]), m.czxids(ids)
	m.readLink.refuse(true)
	m.readLink.cutAll()
	m.javaLink.cutAll()
	m.awaitRegisteredAgain(ids[:2], again)
	m.readLink.refuse(false)
	m.settle()
	m.sync()
	if got, want := m.events.of(ids[0]), known+", changed 8080"; got != want {
		m.t.Errorf("events of %s, registered again while our cache was cut off: got %s, want %s", ids[0], got, want)
	}
	now := m.czxids(ids)
	for i := 2; i < len(ids); i++ {
		if now[i] != before[i] {
			m.t.Errorf("czxid of %s after reconnections: got %d, want %d as before", ids[i], now[i], before[i])
		}
		if got, want := m.events.of(ids[i]), "created 8080"; got != want {
			m.t.Errorf("events of %s: got %s, want %s", ids[i], got, want)
		}
	}
}

// kill: what a Java process had goes when its session expires. Our node that has waited for that takes its place.
func kill(w *world) {
	m := newMarket(w, "string", false)
	process := m.fresh(java, nil)
	victim := m.mortal(6*time.Second).clientIn(process, java, m.addr)
	s := sample(m.service, m.payload, "victim", discovery.Dynamic)
	order := m.theirs(victim, "discovery").order("register")
	order.Service = &s
	m.done(process, order)
	m.wants(s)
	data, path := "java", "/nodes/"+name("killed")
	node := victim.contender(godriver.Order{Recipe: "persistentnode", Path: path, Mode: "EPHEMERAL", Data: &data})
	node.acquire(within(patience))
	ours := nodes.NewPersistentNode(m.client, path, []byte("go"))
	ctx, cancel := await.Context(m.t.Context(), m.t, patience, "our node to succeed")
	defer cancel()
	started := make(chan error, 1)
	go func() { started <- ours.Start(ctx) }()
	await.Until(m.t, patience, "our node to find Java's", func() bool { return errors.Is(ours.Err(), nodes.ErrForeign) })
	m.settle()
	process.Kill()
	m.settle() // it is there until the server ends its session
	delete(m.want, s.ID)
	m.settle()
	if got, want := m.events.of(s.ID), "created 8080, deleted 8080"; got != want {
		m.t.Errorf("events of the killed one: got %s, want %s", got, want)
	}
	if err := <-started; err != nil {
		m.t.Errorf("our node after Java's: %v", err)
	}
	m.awaitNode(path, m.client, "go")
	m.closeNode(ours)
}

// sessionOver: our dynamic instance is made again, and Java follows. The static one stays.
func sessionOver(w *world) {
	m := newMarket(w, "map", false)
	ids := []string{"go-DYNAMIC", "go-STATIC"}
	for i, kind := range []discovery.ServiceType{discovery.Dynamic, discovery.Static} {
		m.weRegister(sample(m.service, m.payload, ids[i], kind))
	}
	m.settle()
	before := m.czxids(ids)
	m.takeSession(m.sessionOf(m.client))
	m.awaitRegisteredAgain(ids[:1], before)
	m.settle()
	changed := m.want[ids[0]]
	port := 9090
	changed.Port = &port
	m.weUpdate(changed)
	m.settle()
	if got, want := m.events.of(ids[0]), "created 8080, deleted 8080, created 8080, changed 9090"; got != want {
		m.t.Errorf("events of %s: got %s, want %s", ids[0], got, want)
	}
	if got := m.czxids(ids); got[1] != before[1] {
		m.t.Errorf("czxid of %s after the session: got %d, want %d as before", ids[1], got[1], before[1])
	}
}

// sessionOverUnseen: Java's cache takes the new node for the old one, whose version was the same.
func sessionOverUnseen(w *world) {
	m := newMarket(w, "job", false)
	m.weRegister(sample(m.service, m.payload, "go-1", discovery.Dynamic))
	m.settle()
	stale, before := m.want["go-1"], m.czxids([]string{"go-1"})
	m.readLink.refuse(true)
	m.readLink.cutAll()
	fresh, port := stale, 9090
	fresh.Port = &port
	m.weUpdate(fresh)
	m.takeSession(m.sessionOf(m.client))
	m.awaitRegisteredAgain([]string{"go-1"}, before)
	m.readLink.refuse(false)
	m.weRegister(bare(m.service, m.payload, "go-2")) // Java's cache shows when it is connected
	for _, r := range m.readers {
		if strings.HasPrefix(r.name, "Java's Service") {
			m.want["go-1"] = stale
		} else {
			m.wants(fresh)
		}
		m.settleOne(r)
	}
	m.sync()
	if got, want := m.events.of("go-1"), "created 8080, deleted 8080, created 9090"; got != want {
		m.t.Errorf("events of go-1: got %s, want %s", got, want)
	}
	fresh.Address = "elsewhere"
	m.weUpdate(fresh)
	m.settle()
}

// sequentials: Java's client makes one more node whenever it connects, and can neither update nor remove any.
func sequentials(w *world) {
	m := newMarket(w, "job", false)
	theirs := sample(m.service, m.payload, "java-seq", discovery.DynamicSequential)
	m.javaDoes("register", theirs)
	m.weRegister(sample(m.service, m.payload, "go-seq", discovery.DynamicSequential))
	m.settle()
	path := m.base + "/" + m.service
	m.goLink.cutAll()
	m.javaLink.cutAll()
	all := m.awaitChildren(path, 3)
	if got := slices.IndexFunc(all, func(name string) bool { return strings.HasPrefix(name, "java-seq") }); got < 0 {
		m.t.Errorf("got the nodes %q, want two of Java's", all)
	}
	order := m.java.order("update")
	order.Service = &theirs
	if a := <-m.java.process.Order(order); !strings.Contains(a.Error, "NoNode") {
		m.t.Errorf("Java's update of a sequential instance: got %+v, want NoNode: it uses the path without the number", a)
	}
	m.order("unregister", theirs)
	m.want["java-seq twice"] = m.want["java-seq"]
	changed := m.want["go-seq"]
	changed.Address = "elsewhere"
	m.weUpdate(changed)
	m.settle()
	m.weUnregister("go-seq")
	m.settle()
	for _, node := range m.children(path) {
		if got, want := m.events.of(node), "created 8080"; got != want {
			m.t.Errorf("events of %s: got %s, want %s", node, got, want)
		}
	}
}

// sameID: Java deletes what it finds, and registers. Ours waits while Java's is there, and is made again otherwise. If
// it is there again before Java registers, Java deletes it once more, and gives up without an error.
func sameID(w *world) {
	m := newMarket(w, "job", false)
	id := "one__1" // the proxy knows deletions of nodes with such names
	ours := sample(m.service, m.payload, id, discovery.Dynamic)
	m.weRegister(ours)
	m.settle()
	r, theirs, port := m.registrations[id], ours, 9090
	theirs.Port = &port

	m.goLink.freeze()
	m.javaDoes("register", theirs)
	m.goLink.thaw()
	m.settle()
	await.Until(m.t, patience, "ours to know", func() bool { return !r.There() && errors.Is(r.Err(), nodes.ErrForeign) })
	m.javaDoes("unregister", theirs)
	m.wants(ours)
	m.settle()
	await.Until(m.t, patience, "ours to be there", func() bool { return r.There() && r.Err() == nil })

	before := m.czxids([]string{id})
	deleted := m.javaLink.loseDelete(func(p *proxy, _ *link) { p.freeze() })
	order := m.java.order("register")
	order.Service = &theirs
	answer := m.java.process.Order(order)
	<-deleted.happened
	m.awaitRegisteredAgain([]string{id}, before)
	before = m.czxids([]string{id})
	m.javaLink.thaw()
	m.wait(m.java.process, "register an id that is back", answer) // it has given up, and reports no error
	m.awaitRegisteredAgain([]string{id}, before)
	m.settle()

	second := sample(m.service, m.payload, "two", discovery.Dynamic)
	m.javaDoes("register", second)
	m.settle()
	before = m.czxids([]string{"two"})
	if err := m.registerBriefly(second); !errors.Is(err, nodes.ErrForeign) {
		m.t.Errorf("registration of an id of Java's: got %v, want %v", err, nodes.ErrForeign)
	}
	if got := m.czxids([]string{"two"}); got[0] != before[0] {
		m.t.Errorf("czxid of Java's: got %d, want %d as before", got[0], before[0])
	}
	m.settle()
}

// registerBriefly gives a registration of ours so much time that it must know why it is not there.
func (m *market) registerBriefly(s godriver.Service) (err error) {
	m.t.Helper()
	for limit := 50 * time.Millisecond; limit < patience; limit *= 2 {
		ctx, cancel := context.WithTimeout(m.t.Context(), limit)
		_, err = m.ours.Register(ctx, ourInstance(m.t, s, m.payload, m.writesEnabled))
		cancel()
		if err == nil || errors.Is(err, nodes.ErrForeign) {
			return err
		}
	}
	await.Fatalf(m.t, "our registration: got %v", err)
	return nil
}
