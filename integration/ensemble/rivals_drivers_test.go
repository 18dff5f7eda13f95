//go:build linux

package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework/zktest/await"
)

// otherLanguages are the drivers of integration/interop that can be run here. Where everything is required, the test
// fails if one is missing.
func otherLanguages(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	add := func(language string, command []string, err error) {
		t.Helper()
		switch {
		case err == nil:
			found[language] = command
		case os.Getenv("CURATOR_INTEGRATION") == "required":
			t.Fatalf("no %s to compare with: %v", language, err)
		default:
			t.Logf("no %s to compare with: %v", language, err)
		}
	}
	language, command, err := javaDriver()
	add(language, command, err)
	command, err = kazooDriver()
	add("kazoo", command, err)
	return found
}

func javaDriver() (language string, command []string, err error) {
	language = "Java Curator"
	found, err := filepath.Glob("../.cache/curator-*/curator-recipes-*.jar")
	if err != nil {
		return language, nil, err
	}
	if len(found) == 0 {
		return language, nil, errors.New("no jars in integration/.cache")
	}
	jars, err := filepath.Abs(filepath.Dir(found[len(found)-1]))
	if err != nil {
		return language, nil, err
	}
	language += " " + jars[1+strings.LastIndexByte(jars, '-'):]
	classes, err := programs.Javac(jars, os.DirFS("../interop"))
	return language, []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
		"-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true", "-cp", classes + ":" + jars + "/*", "Driver",
	}, err
}

func kazooDriver() (command []string, err error) {
	if _, err := os.Stat("../.cache/kazoo/complete"); err != nil {
		return nil, err
	}
	source, err := os.ReadFile("../interop/kazoo/driver.py")
	if err != nil {
		return nil, err
	}
	python, err := filepath.Abs("../.cache/kazoo/bin/python")
	return []string{python, "-c", string(source)}, err
}

// A driver is a process of another language, which obeys orders. Its protocol is described in
// integration/interop/godriver.
type driver struct {
	*child
	in     io.Writer
	events chan driverAnswer

	mu      sync.Mutex
	next    int64
	waiting map[int64]chan driverAnswer
}

type driverAnswer struct {
	ID    int64  `json:"id"`
	Event string `json:"event"`
	Who   string `json:"who"`
	OK    bool   `json:"ok"`
	Ended int64  `json:"ended"`
	Error string `json:"error"`
}

// at is when it happened: drivers read CLOCK_MONOTONIC.
func (a driverAnswer) at() time.Time {
	const clockMonotonic = 1
	var now syscall.Timespec
	_, _, _ = syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	return time.Now().Add(-time.Duration(now.Nano() - a.Ended))
}

func startDriver(t *testing.T, command []string) *driver {
	t.Helper()
	c, in, out := startChild(t, command)
	d := &driver{child: c, in: in, events: make(chan driverAnswer, 100), waiting: map[int64]chan driverAnswer{}}
	go d.listen(out)
	return d
}

func (d *driver) listen(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var a driverAnswer
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue
		}
		d.mu.Lock()
		waiting := d.waiting[a.ID]
		d.mu.Unlock()
		switch {
		case waiting != nil:
			waiting <- a
		case a.Event != "":
			select {
			case d.events <- a:
			default:
			}
		}
	}
}

func (d *driver) order(order map[string]any) <-chan driverAnswer {
	answer := make(chan driverAnswer, 1)
	d.mu.Lock()
	d.next++
	order["id"] = d.next
	d.waiting[d.next] = answer
	d.mu.Unlock()
	line, err := json.Marshal(order)
	if err != nil {
		panic(err)
	}
	_, _ = d.in.Write(append(line, '\n'))
	return answer
}

func (d *driver) must(t *testing.T, order map[string]any) driverAnswer {
	t.Helper()
	select {
	case a := <-d.order(order):
		if a.Error != "" {
			t.Fatalf("%v: %s", order, a.Error)
		}
		return a
	case <-d.exited:
		t.Fatalf("%v: the driver has ended", order)
	case <-time.After(patience):
		await.Fatalf(t, "the answer to %v", order)
	}
	return driverAnswer{}
}

// foreign is a contest within one driver: its holder and its second have a client each.
func foreign(t *testing.T, language string, d *driver, holderAt, secondAt string, session time.Duration) *rival {
	t.Helper()
	r := &rival{name: language, path: "/rival/" + name("foreign"), knew: make(chan time.Time, 1), admitted: make(chan time.Time, 1)}
	holder, second := r.path+"-holder", r.path+"-second"
	for who, at := range map[string]string{holder: holderAt, second: secondAt} {
		d.must(t, map[string]any{"op": "open", "client": who, "connect": at, "session": session.Milliseconds(), "data": "x"})
		d.must(t, map[string]any{
			"op": "contender", "who": who, "client": who, "recipe": "mutex", "path": r.path, "data": "x", "n": 1, "ms": -1,
		})
	}
	d.must(t, map[string]any{"op": "acquire", "who": holder, "ms": -1, "n": 1})
	for len(d.events) > 0 {
		<-d.events
	}
	granted := d.order(map[string]any{"op": "acquire", "who": second, "ms": -1, "n": 1})
	done := make(chan struct{})
	go func() {
		for {
			select {
			case a := <-granted:
				r.admitted <- a.at()
				granted = nil
			case e := <-d.events:
				if e.Who == holder {
					select {
					case r.knew <- e.at():
					default:
					}
				}
			case <-done:
				return
			}
		}
	}()
	r.close = func() {
		close(done)
		d.must(t, map[string]any{"op": "close", "client": holder})
		d.must(t, map[string]any{"op": "close", "client": second})
	}
	return r
}
