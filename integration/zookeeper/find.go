//go:build unix

package zookeeper

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

//go:embed pom.xml
var pom []byte

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
	mode := os.Getenv("CURATOR_INTEGRATION")
	if mode == "" {
		t.Skip("CURATOR_INTEGRATION is not set: not starting a real ZooKeeper; integration/run does all it takes")
	}
	java, jars, err := find()
	if err != nil {
		if mode == "required" {
			t.Fatalf("no ZooKeeper to test on: %v", err)
		}
		t.Skipf("no ZooKeeper to test on: %v", err)
	}
	return java, jars
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
