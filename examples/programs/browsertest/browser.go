//go:build unix

// Package browsertest shows pages in a real Chromium without a screen, and asks what they show.
package browsertest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest/await"
)

// patience is for what must happen, on a machine that is busy.
const patience = 2 * time.Minute

// A Page is a tab of a browser of its own. It is spoken to over a pipe, in Chromium's DevTools protocol: a JSON object
// and a zero byte each way. Its methods must not be called at one time.
type Page struct {
	t       testing.TB
	out     io.Writer
	session string
	number  int
	answers chan answer

	mu       sync.Mutex
	received int64    // bytes of answers and streams
	problems []string // what the page's scripts have failed with
}

type answer struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params json.RawMessage `json:"params"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// Find returns the browser, or why there is none. Ubuntu has Chromium as a snap alone, which does not see what tests
// write to /tmp, but the machines of its CI have Chrome.
func Find() (path string, err error) {
	for _, name := range []string{"chromium", "google-chrome", "google-chrome-stable"} {
		if path, err = exec.LookPath(name); err == nil && !strings.HasPrefix(path, "/snap/") {
			return path, nil
		}
	}
	return "", errors.New("there is neither chromium nor google-chrome, apart from snaps")
}

// Start starts a browser, with an empty page. It ends with the test.
func Start(t testing.TB, path string) *Page {
	t.Helper()
	in, theirOut := pipe(t)
	theirIn, out := pipe(t)
	cmd := exec.Command(path, "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	p := &Page{t: t, out: out, answers: make(chan answer, 1)}
	done := make(chan struct{})
	go func() { defer close(done); p.read(in) }()
	t.Cleanup(func() {
		out.Close()
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it has many processes
		_ = cmd.Wait()
		in.Close()
		<-done
	})
	var target struct{ TargetID string }
	p.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	p.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	p.session = attached.SessionID
	for _, domain := range []string{"Page", "Network", "Runtime", "Performance"} {
		p.call(domain+".enable", nil, nil)
	}
	p.Size(1280, 800)
	return p
}

func pipe(t testing.TB) (in, out *os.File) {
	t.Helper()
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}

// read takes answers and events until the browser is gone.
func (p *Page) read(in io.Reader) {
	defer close(p.answers)
	for lines := bufio.NewReader(in); ; {
		line, err := lines.ReadBytes(0)
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(line[:len(line)-1], &a) != nil {
			continue
		}
		if a.ID != 0 {
			p.answers <- a
			continue
		}
		p.event(a)
	}
}

func (p *Page) event(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch a.Method {
	case "Network.dataReceived":
		var data struct{ DataLength int64 }
		_ = json.Unmarshal(a.Params, &data)
		p.received += data.DataLength
	case "Runtime.exceptionThrown":
		p.problems = append(p.problems, string(a.Params))
	}
}

// call sends a command, and waits for its answer.
func (p *Page) call(method string, params map[string]any, result any) {
	p.t.Helper()
	p.number++
	command := map[string]any{"id": p.number, "method": method}
	if params != nil {
		command["params"] = params
	}
	if p.session != "" {
		command["sessionId"] = p.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := p.out.Write(append(text, 0)); err != nil {
		p.t.Fatalf("%s: the browser is gone: %v", method, err)
	}
	select {
	case a, open := <-p.answers:
		switch {
		case !open:
			p.t.Fatalf("%s: the browser is gone", method)
		case a.Error != nil:
			p.t.Fatalf("%s: %s", method, a.Error.Message)
		case a.ID != p.number:
			p.t.Fatalf("%s: got the answer %d, want %d", method, a.ID, p.number)
		}
		if result != nil {
			if err := json.Unmarshal(a.Result, result); err != nil {
				p.t.Fatal(err)
			}
		}
	case <-time.After(patience):
		await.Fatalf(p.t, "the browser's answer to %s (%v)", method, patience)
	}
}

// Size makes the page so many pixels wide and high.
func (p *Page) Size(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}, nil)
}

// Open goes to an address. It does not wait until that is loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	var got struct{ ErrorText string }
	p.call("Page.navigate", map[string]any{"url": url}, &got)
	if got.ErrorText != "" {
		p.t.Fatalf("%s: %s", url, got.ErrorText)
	}
}

// Eval returns the value of an expression as a text. It is an error if the expression throws.
func (p *Page) Eval(expression string) (string, error) {
	p.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	p.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &got)
	if got.ExceptionDetails != nil {
		return "", errors.New(got.ExceptionDetails.Exception.Description)
	}
	return fmt.Sprint(got.Result.Value), nil
}

// Text is what an element shows, by its selector; empty if there is none.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	text, err := p.Eval(fmt.Sprintf("(e => e ? e.innerText : '')(document.querySelector(%q))", selector))
	if err != nil {
		p.t.Fatal(err)
	}
	return text
}

// Until waits until an expression is true.
func (p *Page) Until(what, expression string) {
	p.t.Helper()
	var got string
	var err error
	if !await.Within(patience, func() bool {
		got, err = p.Eval("!!(" + expression + ")")
		return got == "true"
	}) {
		shown, _ := p.Eval("document.body ? document.body.innerText.slice(0, 2000) : ''")
		await.Fatalf(p.t, "%s (%v), got %s %v; the page shows\n%s", what, patience, got, err, shown)
	}
}
