//go:build linux

package zklock_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

// A person types into each shell, in a terminal. The scripts call zklock by its name, so it is in PATH.
func TestShellsCompleteCommandsAndPaths(t *testing.T) {
	server := zktest.New(t)
	start(t, server.Addr(), with([]string{"/locks/nightly"}, script("exec sleep 1000")...)...).await("started")
	dir := t.TempDir()
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, _, status := zklock(t, "", "completion", shell)
		if status != 0 {
			t.Fatalf("completion %s: got status %d, want 0", shell, status)
		}
		name := map[string]string{"zsh": "_zklock"}[shell]
		if name == "" {
			name = "zklock." + shell
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const prompt = "ready> "
	for _, test := range []struct {
		name  string
		shell []string
		setUp []string
	}{
		{"bash", []string{"bash", "--norc", "--noprofile"}, []string{"PS1='" + prompt + "'", "source " + dir + "/zklock.bash"}},
		{"zsh, in fpath", []string{"zsh", "-f"}, []string{
			"PROMPT='" + prompt + "'", "fpath=(" + dir + " $fpath)", "autoload -U compinit; compinit -u -D",
		}},
		{"zsh, sourced", []string{"zsh", "-f"}, []string{
			"PROMPT='" + prompt + "'", "autoload -U compinit; compinit -u -D", "source " + dir + "/_zklock",
		}},
		{"fish", []string{"fish", "--private", "--no-config"}, []string{
			"function fish_prompt; echo -n '" + prompt + "'; end", "source " + dir + "/zklock.fish",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, needed := range []string{"tmux", test.shell[0]} {
				if _, err := exec.LookPath(needed); err != nil {
					lacking(t, err)
				}
			}
			t.Parallel()
			p := newPane(t, "24", "cd "+t.TempDir()+"; exec env -i HOME="+t.TempDir()+" TERM=screen LANG=C.UTF-8 PATH="+filepath.Dir(program)+
				":/usr/bin:/bin ZOOKEEPER="+server.Addr()+" "+strings.Join(test.shell, " "))
			for i, line := range test.setUp {
				p.tmux("send-keys", "-l", line)
				p.tmux("send-keys", "Enter")
				if i == 0 {
					p.await(`(?m)^ready>$`)
				}
			}
			p.tmux("send-keys", "-l", "clear")
			p.tmux("send-keys", "Enter")
			p.completes("zklock rev", "zklock revoke")
			p.completes("/lo", "zklock revoke /locks") // a command is followed by a space
			if test.name == "fish" {                   // and so is a path there
				p.tmux("send-keys", "BSpace")
			}
			p.completes("/ni", "zklock revoke /locks/nightly")
		})
	}
}

// completes types a text and the key that completes it, and waits for the line that comes of it.
func (p pane) completes(text, want string) {
	p.t.Helper()
	p.tmux("send-keys", "-l", text)
	p.tmux("send-keys", "Tab")
	p.await(`(?m)^ready> ` + want + `$`)
}
