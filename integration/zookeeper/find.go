//go:build unix

package zookeeper

import (
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var (
	//go:embed pom.xml
	pom []byte
	//go:embed java/*.java
	sources embed.FS
)

// Version returns the version of the servers that Start starts: $ZOOKEEPER_VERSION or else the one in pom.xml.
func Version() string {
	if version := os.Getenv("ZOOKEEPER_VERSION"); version != "" {
		return version
	}
	return string(regexp.MustCompile(`<zookeeper\.version>(.*)</zookeeper\.version>`).FindSubmatch(pom)[1])
}

// need finds java and the jars, or ends the test as CURATOR_INTEGRATION wants it.
func need(t testing.TB) (java, jars string) {
	t.Helper()
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting a real ZooKeeper; integration/run does all it takes")
	}
	java, jars, err := find()
	missing(t, err)
	return java, jars
}

// missing ends the test as CURATOR_INTEGRATION wants it, unless err is nil.
func missing(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CURATOR_INTEGRATION") == "required":
		t.Fatalf("no ZooKeeper to test on: %v", err)
	default:
		t.Skipf("no ZooKeeper to test on: %v", err)
	}
}

// needVersion skips the test if the server that Start would start is older than 3.minor, which brought what it needs.
func needVersion(t testing.TB, minor int, what string) {
	t.Helper()
	var has int
	if _, err := fmt.Sscanf(Version(), "3.%d.", &has); err == nil && has < minor {
		t.Skipf("ZooKeeper %s has no %s; 3.%d has", Version(), what, minor)
	}
}

func find() (java, jars string, err error) {
	java, javaErr := exec.LookPath("java")
	jars, jarsErr := findJars()
	return java, jars, errors.Join(javaErr, jarsErr)
}

// findJars returns the directory of the server's jars.
func findJars() (string, error) {
	dir := os.Getenv("CURATOR_ZOOKEEPER_DIR")
	if dir == "" {
		root, err := moduleRoot()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(root, "integration", ".cache", "zookeeper-"+Version())
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "zookeeper-*.jar")); len(found) == 0 {
		return "", fmt.Errorf("no jars of ZooKeeper %s in %s; integration/run puts them there", Version(), dir)
	}
	return filepath.Abs(dir)
}

// moduleRoot finds the top of this repository. Tests run in the directory of their package, which may belong to a
// module of its own below integration, so it looks for the directory that holds this package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "integration", "zookeeper", "pom.xml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("not inside the repository, and CURATOR_ZOOKEEPER_DIR is not set")
		}
	}
}
