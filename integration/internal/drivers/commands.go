//go:build linux

package drivers

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/integration/interop"
)

// Need ends the test as CURATOR_INTEGRATION wants it if something that integration/run collects is missing.
func Need(t testing.TB, what string, err error) {
	t.Helper()
	switch {
	case os.Getenv("CURATOR_INTEGRATION") == "":
		t.Skip("CURATOR_INTEGRATION is not set; integration/run does all it takes")
	case err == nil:
	case os.Getenv("CURATOR_INTEGRATION") == "required":
		t.Fatalf("no %s to test with: %v", what, err)
	default:
		t.Skipf("no %s to test with: %v", what, err)
	}
}

// collected is the directory in which integration/run collects things. Tests run in a directory of integration.
func collected(parts ...string) string {
	return filepath.Join(append([]string{"..", ".cache"}, parts...)...)
}

// Versions of Java Curator that are tested with.
var (
	CuratorVersion    = pinned("curator.version")
	CuratorOldVersion = pinned("curator.old.version")
)

// pinned reads a version from pom.xml. The environment has the last word: CURATOR_JAVA_VERSION for the current one.
func pinned(property string) string {
	if version := os.Getenv("CURATOR_JAVA_VERSION"); version != "" && property == "curator.version" {
		return version
	}
	pom, err := interop.Sources.ReadFile("java/pom.xml")
	if err != nil {
		panic(err)
	}
	return string(regexp.MustCompile(`<` + regexp.QuoteMeta(property) + `>(.*)</`).FindSubmatch(pom)[1])
}

// NeedJavaDowngrade skips a test of what Curator has learnt with 5.5, where an older one was chosen.
func NeedJavaDowngrade(t testing.TB) {
	t.Helper()
	if regexp.MustCompile(`^5\.[0-4]\.`).MatchString(CuratorVersion) {
		t.Skipf("Curator %s puts its downgraded readers behind waiting writers", CuratorVersion)
	}
}

// JavaCommand returns the command line of the Java driver.
func JavaCommand(t testing.TB, version string) []string {
	t.Helper()
	jars, err := filepath.Abs(collected("curator-" + version))
	if err == nil {
		_, err = os.Stat(filepath.Join(jars, "curator-recipes-"+version+".jar"))
	}
	Need(t, "Java Curator "+version, err)
	classes, err := programs.Javac(jars, interop.Sources)
	Need(t, "Java Curator "+version, err)
	return []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true",
		"-cp", classes + string(filepath.ListSeparator) + jars + "/*", "Driver",
	}
}

// KazooCommand returns the command line of the Python driver.
func KazooCommand(t testing.TB) []string {
	t.Helper()
	python, err := filepath.Abs(collected("kazoo", "bin", "python"))
	if err == nil {
		_, err = os.Stat(collected("kazoo", "complete"))
	}
	Need(t, "kazoo", err)
	return []string{python, filepath.Join("..", "interop", "kazoo", "driver.py")}
}

// GoCommand returns the command line of the Go driver: this test binary, which runs it instead of the tests; see
// TestMain.
func GoCommand(t testing.TB) []string {
	t.Helper()
	Need(t, "Go driver", nil)
	self, err := os.Executable()
	Need(t, "Go driver", err)
	return []string{self}
}
