//go:build linux

package godriver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gocurator/curator/framework"
)

// A driver obeys the orders of one input.
type driver struct {
	mouth   *mouth
	clients registry[client]
	crew    registry[*worker]
}

// A client is a connection that contenders use.
type client interface {
	// contender makes what obeys acquire and release.
	contender(order Order, tell func(*Answer)) (contender, error)
	revoke(ctx context.Context, node string) error
	session() string
	close()
}

// A contender is a lock and its user.
type contender interface {
	// acquire returns the names of its nodes, and until when the hold lasts if it is not renewed, or 0. errTime: not
	// acquired.
	acquire(ctx context.Context, order Order) (nodes []string, valid int64, err error)
	// release calls leaving at the end of the hold, before anybody else can hear of it: with the time at which it ended
	// at the latest, or 0.
	release(order Order, leaving func(valid int64)) error
	report(ctx context.Context, order Order, a *Answer) error
}

// errTime says that a lock was not acquired in time, which is no failure.
var errTime = errors.New("time is up")

// Run obeys orders until the input ends.
func Run(in io.Reader, out io.Writer) error {
	d := &driver{mouth: newMouth(out)}
	orders := json.NewDecoder(in)
	for {
		order := Order{MS: -1, N: 1}
		if err := orders.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		d.take(order)
	}
}

// take begins what is ordered; it does not wait, but for the birth of a contender.
func (d *driver) take(order Order) {
	switch order.Op {
	case "crash":
		os.Exit(137)
	case "spin", "stall", "crowd":
		go d.answer(order, func(*Answer) error {
			return halt(order.Op, time.Duration(order.MS)*time.Millisecond, order.N)
		})
	case "contender":
		d.answer(order, func(*Answer) error { return d.hire(order) })
	case "open", "close", "revoke":
		go d.answer(order, func(a *Answer) error { return d.manage(order, a) })
	default:
		w, ok := d.crew.get(order.Who)
		if !ok {
			d.answer(order, func(*Answer) error { return fmt.Errorf("who is %q?", order.Who) })
			return
		}
		w.orders <- order
	}
}

func (d *driver) answer(order Order, step func(a *Answer) error) {
	a := &Answer{ID: order.ID, Who: order.Who, OK: true, Began: Now()}
	err := step(a)
	if a.Ended == 0 {
		a.Ended = Now()
	}
	if err != nil {
		a.OK = false
		if !errors.Is(err, errTime) {
			a.Error = err.Error()
		}
	}
	d.mouth.say(a)
}

func (d *driver) manage(order Order, a *Answer) error {
	ctx := context.Background()
	if order.Op == "open" {
		open := openOurs
		if order.Recipe == "zklock" {
			open = openZK
		}
		c, err := open(ctx, order, func(event string) {
			now := Now()
			d.mouth.say(&Answer{Event: event, Who: order.Client, Began: now, Ended: now})
		})
		if err != nil {
			return err
		}
		a.Session = c.session()
		d.clients.put(order.Client, c)
		return nil
	}
	c, ok := d.clients.get(order.Client)
	if !ok {
		return fmt.Errorf("who is %q?", order.Client)
	}
	switch order.Op {
	case "revoke":
		return c.revoke(ctx, order.Node)
	default:
		c.close()
		return nil
	}
}

func (d *driver) hire(order Order) error {
	c, ok := d.clients.get(order.Client)
	if !ok {
		return fmt.Errorf("who is %q?", order.Client)
	}
	lock, err := c.contender(order, func(a *Answer) {
		a.Who = order.Who
		d.mouth.say(a)
	})
	if err != nil {
		return err
	}
	w := &worker{driver: d, who: order.Who, recipe: order.Recipe, lock: lock, orders: make(chan Order, 1000)}
	if o, ok := c.(*ours); ok {
		w.client = o.client
	}
	d.crew.put(order.Who, w)
	go w.run()
	return nil
}

// A worker is the thread of a contender.
type worker struct {
	driver *driver
	who    string
	recipe string
	client *framework.Client // nil if it is not one of this library
	lock   contender
	holds  int // how many there were, with the present one
	orders chan Order
}

func (w *worker) run() {
	for order := range w.orders {
		w.driver.answer(order, func(a *Answer) (err error) { return w.obey(order, a) })
	}
}

func (w *worker) obey(order Order, a *Answer) (err error) {
	ctx := context.Background()
	switch order.Op {
	case "acquire":
		a.Nodes, a.Valid, err = w.acquire(ctx, order)
		a.Ended = Now()
		return err
	case "release":
		return w.lock.release(order, func(valid int64) { a.Valid = valid })
	case "work":
		w.work(ctx, order)
		return nil
	default:
		return w.lock.report(ctx, order, a)
	}
}

func (w *worker) acquire(ctx context.Context, order Order) ([]string, int64, error) {
	if order.MS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(order.MS)*time.Millisecond)
		defer cancel()
	}
	nodes, valid, err := w.lock.acquire(ctx, order)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errTime
	}
	return nodes, valid, err
}

// work acquires and releases many times, and reports each by events.
func (w *worker) work(ctx context.Context, order Order) {
	for range order.Times {
		w.once(ctx, order)
		time.Sleep(time.Duration(order.Pause) * time.Microsecond)
	}
	if e, ok := w.lock.(*election); ok {
		e.leave()
	}
}

func (w *worker) once(ctx context.Context, order Order) {
	nodes, valid, err := w.acquire(ctx, order)
	now := Now()
	switch {
	case errors.Is(err, errTime):
		w.event("missed", now, 0, nil, nil)
		return
	case err != nil:
		w.event("failed", now, 0, nil, err)
		time.Sleep(200 * time.Millisecond)
		return
	}
	w.holds++
	w.event("acquired", now, valid, nodes, nil)
	w.write(ctx, order, Begin, Plain)
	w.hold(time.Duration(order.Hold) * time.Microsecond)
	w.write(ctx, order, Token, Plain, End)
	// It is said before it is done: a process that is killed in between must not seem to hold what others can have.
	err = w.lock.release(order, func(valid int64) { w.event("released", Now(), valid, nodes, nil) })
	if err != nil {
		w.event("failed", Now(), 0, nil, err)
	}
}

// hold holds. A leader looks each millisecond whether it still leads, and stops when it does not.
func (w *worker) hold(d time.Duration) {
	e, ok := w.lock.(*election)
	if !ok {
		time.Sleep(d)
		return
	}
	for range d / time.Millisecond {
		time.Sleep(time.Millisecond)
		if !e.leads() {
			return
		}
	}
}

func (w *worker) event(event string, at, valid int64, nodes []string, err error) {
	a := &Answer{Event: event, Who: w.who, OK: err == nil, Began: at, Ended: at, Valid: valid, Nodes: nodes}
	if err != nil {
		a.Error = err.Error()
	}
	w.driver.mouth.say(a)
}
