//go:build linux

package interop_test

import (
	"embed"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/gocurator/curator/integration/programs"
)

var (
	//go:embed java/pom.xml
	javaPom []byte
	//go:embed java/*.java
	javaSources embed.FS
)

// need ends the test as CURATOR_INTEGRATION wants it if something that integration/run collects is missing.
func need(t testing.TB, what string, err error) {
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

// collected is the directory in which integration/run collects things.
func collected(parts ...string) string {
	return filepath.Join(append([]string{"..", ".cache"}, parts...)...)
}

// Versions of Java Curator that are tested with.
var (
	curatorVersion    = pinned("curator.version")
	curatorOldVersion = pinned("curator.old.version")
)

// pinned reads a version from pom.xml. The environment has the last word: CURATOR_JAVA_VERSION for the current one.
func pinned(property string) string {
	if version := os.Getenv("CURATOR_JAVA_VERSION"); version != "" && property == "curator.version" {
		return version
	}
	return string(regexp.MustCompile(`<` + regexp.QuoteMeta(property) + `>(.*)</`).FindSubmatch(javaPom)[1])
}

// needJavaDowngrade skips a test of what Curator has learnt with 5.5, where an older one was chosen.
func needJavaDowngrade(t testing.TB) {
	t.Helper()
	if regexp.MustCompile(`^5\.[0-4]\.`).MatchString(curatorVersion) {
		t.Skipf("Curator %s puts its downgraded readers behind waiting writers", curatorVersion)
	}
}

// javaCommand returns the command line of the Java driver.
func javaCommand(t testing.TB, version string) []string {
	t.Helper()
	jars, err := filepath.Abs(collected("curator-" + version))
	if err == nil {
		_, err = os.Stat(filepath.Join(jars, "curator-recipes-"+version+".jar"))
	}
	need(t, "Java Curator "+version, err)
	classes, err := programs.Javac(jars, javaSources)
	need(t, "Java Curator "+version, err)
	return []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-Djava.net.preferIPv4Stack=true", "-Dzookeeper.jmx.log4j.disable=true",
		"-cp", classes + string(filepath.ListSeparator) + jars + "/*", "Driver",
	}
}

// kazooCommand returns the command line of the Python driver.
func kazooCommand(t testing.TB) []string {
	t.Helper()
	python, err := filepath.Abs(collected("kazoo", "bin", "python"))
	if err == nil {
		_, err = os.Stat(collected("kazoo", "complete"))
	}
	need(t, "kazoo", err)
	return []string{python, "kazoo/driver.py"}
}

// goCommand returns the command line of the Go driver: this test binary, which runs it instead of the tests; see
// TestMain.
func goCommand(t testing.TB) []string {
	t.Helper()
	need(t, "Go driver", nil)
	self, err := os.Executable()
	need(t, "Go driver", err)
	return []string{self}
}
