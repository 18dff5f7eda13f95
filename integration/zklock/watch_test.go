//go:build linux

package zklock_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/examples/programs/process"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

const readme = "../../examples/zklock/README.md"

var record = flag.Bool("record", false, "write what TestWatchDrawsInPlace sees into README.md")

// A pane is a terminal of 80 columns, in tmux.
type pane struct {
	t      *testing.T
	socket string
}

func newPane(t *testing.T, rows, command string) pane {
	t.Helper()
	p := pane{t, filepath.Join(t.TempDir(), "tmux")}
	session := p.command("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", rows, command)
	programs.Instrument(t, session) // tmux passes its environment on
	p.run(session)
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	return p
}

func (p pane) tmux(args ...string) (output string) {
	p.t.Helper()
	return p.run(p.command(args...))
}

func (p pane) command(args ...string) *exec.Cmd {
	return exec.CommandContext(p.t.Context(), "tmux", append([]string{"-S", p.socket}, args...)...)
}

func (p pane) run(cmd *exec.Cmd) (output string) {
	p.t.Helper()
	all, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, all)
	}
	return string(all)
}

// await waits until the pane shows what matches, and returns all that it shows.
func (p pane) await(pattern string) string {
	p.t.Helper()
	want := regexp.MustCompile(pattern)
	shown := ""
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if shown = strings.TrimRight(p.tmux("capture-pane", "-p"), "\n"); want.MatchString(shown) {
			return shown
		}
	}
	await.Fatalf(p.t, "%q on the terminal (%v), got\n%s", pattern, patience, shown)
	return ""
}

func TestWatchDrawsInPlace(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		lacking(t, err)
	}
	t.Parallel()
	server := zktest.New(t)
	queue := func(who, until string) *running {
		r := start(t, server.Addr(), with([]string{"-data", who, "/locks/nightly"}, script("exec sleep 1000")...)...)
		r.await(until)
		return r
	}
	billing := queue("billing at host7", "started")
	p := newPane(t, "14", "echo before; "+program+" watch -zk "+server.Addr()+" -every 200ms /locks/nightly; echo ended with $?; sleep 1000")
	p.await(`holds .*billing`) // what came before the first look has one time, and what comes later its own
	queue("reports at host9", "waiting")
	p.await(`waits .*reports`)
	queue("an archive with a name that is longer than what there is room for, and so is cut", "waiting")
	first := p.await(`(?s)waits .*waits .*came     an archive`)
	billing.signal(syscall.SIGTERM)
	second := p.await(`(?s)holds .*reports.*left     billing.*let in   reports`)
	p.tmux("send-keys", "C-c")
	if after := p.await(`ended with 130`); !strings.Contains(after, "before") || strings.Contains(after, "acquisitions") {
		t.Errorf("after the end the terminal shows\n%s\nwant what was there before", after)
	}
	inThePage(t, first, second)
}

func TestWatchTellsAnOutageAndEndsWithAKey(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		lacking(t, err)
	}
	t.Parallel()
	server := zktest.New(t, zktest.WithTickTime(300*time.Millisecond))
	holder := start(t, server.Addr(), with([]string{"-data", "billing", "/locks/nightly"}, script("exec sleep 1000")...)...)
	holder.await("started")
	watch := program + " watch -session 6s -every 200ms -zk " + server.Addr() + " /locks/nightly"
	p := newPane(t, "14", watch+"; echo ended with $?; sleep 1000")
	lines := exec.Command(program, strings.Fields(watch)[1:]...)
	programs.Instrument(t, lines)
	piped := process.StartCommand(t, lines)
	piped.Await("billing")
	p.await(`holds .*billing`)
	server.Freeze()
	p.await(`as of .* ago`)
	p.await(`who holds is not known; as of .* ago`)
	piped.Await("no server of " + server.Addr() + " answers; what is known is ")
	piped.Await("older than the session timeout: who holds is not known")
	server.Unfreeze()
	piped.Await("the servers answer again")
	p.await(`answer   the servers answer again`)
	p.tmux("send-keys", "q")
	p.await(`ended with 0`)
	piped.Signal(syscall.SIGINT)
	if got := piped.Wait(); got != 130 {
		t.Errorf("got status %d, want 130", got)
	}
}

// inThePage fails unless README.md has these frames, apart from their numbers. With -record it writes them there. A
// line that did not fit, or that was left of an earlier frame, is a difference.
func inThePage(t *testing.T, frames ...string) {
	t.Helper()
	page, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)(```console\n/locks/nightly  mutex)(.*?)(\n```)")
	found := blocks.FindAllString(string(page), -1)
	if len(found) != len(frames) {
		t.Fatalf("README.md has %d pictures of watch, want %d", len(found), len(frames))
	}
	number := regexp.MustCompile(` *\b[0-9][0-9a-z.:]* *`)
	for i, frame := range frames {
		want := "```console\n" + frame + "\n```"
		if *record {
			page = []byte(strings.Replace(string(page), found[i], want, 1))
			continue
		}
		if got, want := number.ReplaceAllString(found[i], " 0 "), number.ReplaceAllString(want, " 0 "); got != want {
			t.Errorf("README.md shows\n%s\nbut watch draws\n%s\n(cd integration && go test ./zklock -run Watch -record) writes it", got, want)
		}
	}
	if *record {
		if err := os.WriteFile(readme, page, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
