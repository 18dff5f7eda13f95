//go:build linux

package zklock_test

import (
	"os/exec"
	"testing"

	"github.com/gocurator/curator/framework/zktest"
)

// inContainer has zklock run as the first process of a container: in namespaces of processes and of mounts of its own.
func inContainer(t *testing.T) func(cmd *exec.Cmd) {
	t.Helper()
	unshare := []string{"unshare", "--pid", "--fork", "--kill-child", "--mount-proc"}
	for _, as := range [][]string{nil, {"--map-root-user"}} {
		words := with(unshare, as...)
		output, err := exec.Command(words[0], with(words[1:], "true")...).CombinedOutput()
		if err == nil {
			return func(cmd *exec.Cmd) {
				cmd.Path, cmd.Args = "/usr/bin/env", with([]string{"env"}, with(words, with([]string{program}, cmd.Args[1:]...)...)...)
			}
		}
		t.Logf("%v: %s", err, output)
	}
	lacking(t, "no namespaces here")
	return nil
}

// Nothing else reaps what loses its parent there.
func TestFirstProcessOfAContainerReapsAndKillsWhatIsLeft(t *testing.T) {
	t.Parallel()
	server, contain := zktest.New(t), inContainer(t)
	r := startWith(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ZOOKEEPER="+server.Addr())
		contain(cmd)
	}, with([]string{"/locks/a"}, script(`
		for i in 1 2 3 4 5; do (sh -c 'exit 1' &); done
		setsid sleep 1000 &
		tr '\0' ' ' </proc/1/cmdline
		while grep -ls '^State:.Z' /proc/[0-9]*/status; do sleep 0.05; done
		echo no zombies
		exit 4`)...)...)
	r.awaitOutput(program + " run")
	r.awaitOutput("no zombies")
	r.wantStatus(4)
	r.allGone()
}
