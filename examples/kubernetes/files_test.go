package kubernetes_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gocurator/curator/examples/programs"
	"github.com/gocurator/curator/framework"
)

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// number finds the one number that a pattern has in a file.
func number(t *testing.T, name, pattern string) int {
	t.Helper()
	found := regexp.MustCompile(pattern).FindAllStringSubmatch(readFile(t, name), -1)
	if len(found) != 1 {
		t.Fatalf("%s: got %d times %s, want one", name, len(found), pattern)
	}
	n, err := strconv.Atoi(found[0][1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// The defaults that the files count on.
const (
	connectionTimeout = 15 // seconds
	work              = 10 // what the files give the work to end
)

func TestGracePeriodIsLongerThanWorkAndRelease(t *testing.T) {
	for name, pattern := range map[string]string{
		"nightly-root.service": `TimeoutStopSec=(\d+)`,

		"deployment.yaml": `terminationGracePeriodSeconds: (\d+)`,
		"elector.yaml":    `terminationGracePeriodSeconds: (\d+)`,
		"billing.service": `TimeoutStopSec=(\d+)`,
		"nightly.service": `TimeoutStopSec=(\d+)`,
		"compose.yaml":    `stop_grace_period: (\d+)s`,
	} {
		if got := number(t, name, pattern); got <= work+connectionTimeout {
			t.Errorf("%s: got %d s of grace, want more than %d", name, got, work+connectionTimeout)
		}
	}
	client, err := framework.NewClient("localhost:1")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if got := client.ConnectionTimeout().Seconds(); got != connectionTimeout {
		t.Errorf("got a connection timeout of %v s by default, want the %d that the files count on", got, connectionTimeout)
	}
}

func TestConnectStringsOfTheFilesAreGood(t *testing.T) {
	found := 0
	for _, name := range []string{"deployment.yaml", "elector.yaml", "billing.service", "nightly.service", "nightly-root.service", "compose.yaml"} {
		for _, match := range regexp.MustCompile(`-zk[= ]([^\s"]+)`).FindAllStringSubmatch(readFile(t, name), -1) {
			found++
			client, err := framework.NewClient(match[1])
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			client.Close()
		}
	}
	if found < 6 {
		t.Errorf("got %d connect strings, want one in each file", found)
	}
}

// The unit's command line is one that zklock takes, and it needs nothing that zklock could not end.
func TestUnitOfRootRunsWhatZklockTakes(t *testing.T) {
	unit := readFile(t, "nightly-root.service")
	line := regexp.MustCompile(`(?m)^ExecStart=/usr/local/bin/zklock (run .*)$`).FindStringSubmatch(unit)
	if line == nil {
		t.Fatal("got no ExecStart that runs zklock")
	}
	for _, without := range []string{"sudo", "-allow-setuid", "User=", "NoNewPrivileges"} {
		if regexp.MustCompile(`(?m)^[^#]*` + without).MatchString(unit) {
			t.Errorf("got %s in the unit, which is for root", without)
		}
	}
	for _, want := range []string{"Delegate=yes", "KillMode=mixed", "SuccessExitStatus=75"} {
		if !strings.Contains(unit, "\n"+want+"\n") {
			t.Errorf("got no %s in the unit", want)
		}
	}
	args := strings.Fields(line[1])
	at := slices.Index(args, "--")
	if at < 0 {
		t.Fatalf("got %q, want a command behind --", line[1])
	}
	for i, arg := range args { // the servers of the unit are not here
		if strings.HasPrefix(arg, "-zk=") {
			args[i] = "-zk=127.0.0.1:1"
		}
	}
	takes(t, slices.Concat(args[:1], []string{"-connect-timeout", "1ms"}, args[1:at+1], []string{"true"}))
}

// takes fails the test unless zklock accepts these arguments, whose servers are not there. It reads its flags first, so
// a wrong one would be status 64.
func takes(t *testing.T, args []string) {
	t.Helper()
	zklock := filepath.Join(t.TempDir(), "zklock")
	build := programs.GoBuild(t.Context(), "-o", zklock, ".")
	build.Dir = "../zklock" // a module of its own
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	cmd := programs.Command(t, zklock, args...)
	if output, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 69 {
		t.Errorf("got %v, %s, want status 69: there is no server", err, output)
	}
}

var deployments = []string{"deployment.yaml", "elector.yaml"}

// The deployments list the servers by the names that the stateful set gives them.
func TestDeploymentsNameTheServersOfTheStatefulSet(t *testing.T) {
	replicas := number(t, "zookeeper.yaml", `(?m)^  replicas: (\d+)`)
	servers := readFile(t, "zookeeper.yaml")
	for i := range replicas {
		host := fmt.Sprintf("zk-%d.zk.infra.svc.cluster.local", i)
		for _, name := range deployments {
			if !strings.Contains(readFile(t, name), host+".:2181") {
				t.Errorf("%s: got no %s.:2181", name, host)
			}
		}
		if !strings.Contains(servers, fmt.Sprintf("server.%d=%s:2888:3888;2181", i+1, host)) {
			t.Errorf("zookeeper.yaml: got no server %d at %s", i+1, host)
		}
	}
	records := "dns-srv://_client._tcp.zk.infra.svc.cluster.local."
	for _, name := range []string{"zookeeper.yaml", "README.md"} {
		if !strings.Contains(readFile(t, name), records) {
			t.Errorf("%s: got no %s", name, records)
		}
	}
	if client, err := framework.NewClient(records); err != nil {
		t.Error(err)
	} else {
		client.Close()
	}
	for _, want := range []string{"{name: client, port: 2181}", "clusterIP: None", "publishNotReadyAddresses: true", "PURGEINTERVAL"} {
		if !strings.Contains(servers, want) {
			t.Errorf("zookeeper.yaml: got no %q", want)
		}
	}
	for _, name := range deployments {
		for _, without := range []string{"subPath", `limits: \{[^}]*cpu`} {
			if regexp.MustCompile(without).MatchString(readFile(t, name)) {
				t.Errorf("%s: got %q, of which the page warns", name, without)
			}
		}
	}
}

// A container's root builds sources that belong to the user who cloned them, and is refused what git knows of them.
func TestComposeBuildsSourcesOfAnotherUser(t *testing.T) {
	for _, build := range regexp.MustCompile(`go build [^&"]*`).FindAllString(readFile(t, "compose.yaml"), -1) {
		if !strings.Contains(build, "-buildvcs=false") {
			t.Errorf("compose.yaml: got %q, want -buildvcs=false", build)
		}
		program := regexp.MustCompile(`-C (\w+) .* \./(\w+)`).FindStringSubmatch(build)
		if program == nil {
			t.Fatalf("compose.yaml: %q names no module and no program in it", build)
		}
		if _, err := os.Stat(filepath.Join("../..", program[1], program[2], "main.go")); err != nil {
			t.Errorf("compose.yaml: %q builds no program: %v", build, err)
		}
	}
}

// YAML has no tabs, and its indentation is even here; the page names every file.
func TestFilesAreInOrderAndOnThePage(t *testing.T) {
	files, err := filepath.Glob("*")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	page := readFile(t, "README.md")
	for _, name := range files {
		ext := filepath.Ext(name)
		if ext == ".go" || ext == ".md" {
			continue
		}
		if !strings.Contains(page, "["+name+"]("+name+")") {
			t.Errorf("the page does not name %s", name)
		}
		for line := range bytes.Lines([]byte(readFile(t, name))) {
			indent := len(line) - len(bytes.TrimLeft(line, " "))
			if ext == ".yaml" && (bytes.Contains(line, []byte("\t")) || indent%2 != 0) {
				t.Errorf("%s: got the line %q, want an even indentation of spaces", name, line)
			}
		}
	}
}
