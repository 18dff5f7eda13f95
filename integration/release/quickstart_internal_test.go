package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A terminal is a shell in which the commands of one piece of the page are typed.
type terminal struct {
	t  *testing.T
	in io.Writer

	mu      sync.Mutex
	shown   bytes.Buffer
	changed chan struct{} // is closed when more is shown
}

func newTerminal(t *testing.T, dir string, env []string) *terminal {
	t.Helper()
	term := &terminal{t: t, changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	shell := exec.CommandContext(ctx, "bash", "--norc", "--noprofile")
	shell.Dir, shell.Env, shell.Stdout, shell.Stderr = dir, env, term, term
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { // ends all that runs in it
		return syscall.Kill(-shell.Process.Pid, syscall.SIGTERM)
	}
	shell.WaitDelay = time.Minute
	in, err := shell.StdinPipe()
	if err == nil {
		err = shell.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	term.in = in
	t.Cleanup(func() {
		cancel()
		_ = shell.Wait() // it was ended
	})
	return term
}

func (term *terminal) Write(p []byte) (int, error) {
	term.mu.Lock()
	defer term.mu.Unlock()
	close(term.changed)
	term.changed = make(chan struct{})
	return term.shown.Write(p)
}

// types sends a command to the shell, and waits until what it shows is what the page shows. The last command of a piece
// may go on.
func (term *terminal) types(command string, want *regexp.Regexp, last bool) {
	term.t.Helper()
	term.mu.Lock()
	term.shown.Reset()
	term.mu.Unlock()
	const done = "the command has ended"
	line := command + "\n"
	if !last {
		line = command + "; echo " + done + "\n"
	}
	if _, err := io.WriteString(term.in, line); err != nil {
		term.t.Fatal(err)
	}
	patience := time.After(time.Minute)
	for {
		term.mu.Lock()
		shown, changed := term.shown.String(), term.changed
		term.mu.Unlock()
		text, ended := strings.CutSuffix(shown, done+"\n")
		right := want.MatchString(plain(text))
		switch {
		case right && (ended || last):
			return
		case ended:
			term.t.Fatalf("%s\ngot\n%s\nwant what matches\n%s", command, text, want)
		}
		select {
		case <-changed:
		case <-patience:
			term.t.Fatalf("%s\ngot nothing within a minute that matches\n%s\ngot\n%s", command, want, shown)
		}
	}
}

// plain is text with one space where there are more, since columns depend on what is in them. A line that begins with
// spaces goes on with the one before: where it is broken depends on that, too.
func plain(text string) string {
	text = regexp.MustCompile(`\n +`).ReplaceAllString(text, " ")
	return strings.TrimSpace(regexp.MustCompile(` +`).ReplaceAllString(text, " "))
}

// pattern matches what a page shows, with … for anything in a line, and for any lines where it stands alone.
func pattern(shown string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(plain(shown))
	quoted = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(quoted, `(?s:.+)`)
	return regexp.MustCompile(`^` + strings.ReplaceAll(quoted, "…", ".+") + `$`)
}

func TestPatternsOfThePageMatchWhatIsLikeIt(t *testing.T) {
	p := pattern("a  …s b\n…\nend")
	for text, want := range map[string]bool{
		"a 3s   b\nx\ny\nend": true, "a\n  3s b\nx\nend\n": true,
		"a 3s b\nend": false, "a 3m b\nx\nend": false, "a 3s b\nx\nend\nmore": false,
	} {
		if got := p.MatchString(plain(text)); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
	}
}

// withoutGo makes a directory of links to the few programs that the page needs, so that no Go is in PATH.
func withoutGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "cat", "cp", "echo", "gzip", "man", "mkdir", "sh", "sha256sum", "sleep", "tar"} {
		path, err := exec.LookPath(name)
		if err == nil {
			err = os.Symlink(path, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// freeAddress is one of this machine at which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// The page is followed from the files of a release alone, word by word but for addresses and this processor.
func TestQuickstartShowsWhatHappensFromTheFilesOfARelease(t *testing.T) {
	a := rehearsalOf(t)
	page := must(t, a.origin, "show", version+":examples/zklock/QUICKSTART.md")
	server, web := freeAddress(t), freeAddress(t)
	page = strings.NewReplacer(
		"linux_amd64", "linux_"+runtime.GOARCH, "linux/amd64", "linux/"+runtime.GOARCH,
		"127.0.0.1:2181", server, "$ testserver\n", "$ testserver -listen "+server+"\n",
		"127.0.0.1:8420", web, "$ zklock serve\n", "$ zklock serve -listen "+web+"\n",
	).Replace(page)
	home, downloads := t.TempDir(), t.TempDir()
	if err := os.CopyFS(downloads, os.DirFS(filepath.Join(a.work, "files"))); err != nil {
		t.Fatal(err)
	}
	images, err := filepath.Glob(filepath.Join(downloads, "*_image.tar"))
	bills, err2 := filepath.Glob(filepath.Join(downloads, "*.cdx.json"))
	if err != nil || err2 != nil || len(images) == 0 || len(bills) == 0 {
		t.Fatal(images, bills, err, err2)
	}
	for _, name := range append(images, bills...) { // the page does not need them
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + home, "PATH=" + withoutGo(t), "LANG=C.UTF-8"}
	commands := 0
	for _, piece := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(page, -1) {
		term := newTerminal(t, downloads, env)
		lines := strings.Split(strings.TrimPrefix(piece[1], "$ "), "\n$ ")
		for i, line := range lines {
			command, shown, _ := strings.Cut(line, "\n")
			term.types(command, pattern(shown), i == len(lines)-1)
			commands++
		}
	}
	if commands < 15 {
		t.Errorf("got %d commands on the page, want at least 15", commands)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+web, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(body), "<title>zklock</title>") {
		t.Errorf("got %q and %v, want the page that zklock serves", body, err)
	}
}
