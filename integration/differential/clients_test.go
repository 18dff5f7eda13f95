//go:build unix

package differential_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/framework/zktest/await"
)

// need ends the test as CURATOR_INTEGRATION wants it if something that integration/run collects is missing.
func need(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", ".cache", pattern))
	switch mode := os.Getenv("CURATOR_INTEGRATION"); {
	case mode == "":
		t.Skip("CURATOR_INTEGRATION is not set; integration/run does all it takes")
	case len(found) > 0:
		path, err := filepath.Abs(found[len(found)-1])
		if err != nil {
			t.Fatal(err)
		}
		return path
	case mode == "required":
		t.Fatalf("no %s in integration/.cache: %v", pattern, err)
	default:
		t.Skipf("no %s in integration/.cache", pattern)
	}
	return ""
}

// satisfies runs a program of other clients against zktest. It has to end within thirty minutes, and leave nothing
// behind.
func satisfies(t *testing.T, name string, args ...string) {
	t.Helper()
	srv := zktest.NewServer()
	defer srv.Close()
	cmd := exec.CommandContext(t.Context(), name, append(args, srv.Addr())...)
	const limit = 30 * time.Minute
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	out, err := cmd.CombinedOutput()
	if inTime := timer.Stop(); err != nil && !inTime {
		await.Fatalf(t, "%s to end (%v): %v\n%s", name, limit, err, out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("done: %s", strings.Join(strings.Fields(string(out)), " "))
	for _, s := range srv.Sessions() {
		if len(s.Ephemerals) > 0 && s.Connected {
			t.Errorf("session 0x%x was left with %q", s.ID, s.Ephemerals)
		}
	}
}

func TestJavaClientAndCuratorWorkOnIt(t *testing.T) {
	jar := need(t, "curator-5.9.*/curator-recipes-5.9.*.jar")
	satisfies(t, "java", "-Xmx96m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=off", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true",
		"-cp", filepath.Dir(jar)+"/*", "clients/Recipes.java")
}

func TestKazooWorksOnIt(t *testing.T) {
	need(t, "kazoo/complete")
	satisfies(t, need(t, "kazoo/bin/python"), "clients/recipes.py")
}
