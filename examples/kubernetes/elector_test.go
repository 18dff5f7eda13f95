package kubernetes_test

import (
	"regexp"
	"strings"
	"testing"
)

// The sidecar ends after the program, in time, and is asked where it listens.
func TestElectorEndsAfterTheProgramAndWithinTheGracePeriod(t *testing.T) {
	const name = "elector.yaml"
	promise := number(t, name, `-promise=(\d+)s`)
	if got, least := number(t, name, `terminationGracePeriodSeconds: (\d+)`), work+promise+connectionTimeout; got <= least {
		t.Errorf("got %d s of grace, want more than %d: the work, the last yes and the release", got, least)
	}
	file := readFile(t, name)
	sidecars, programs, found := strings.Cut(file, "      containers:\n")
	_, sidecar, isInit := strings.Cut(sidecars, "      initContainers:\n")
	if !found || !isInit || !strings.Contains(sidecar, "- name: elector\n          restartPolicy: Always") {
		t.Fatal("got no init container elector that is restarted always: an ordinary one ends before the program")
	}
	port := number(t, name, `-listen=:(\d+)`)
	if got := number(t, name, `name: elector, containerPort: (\d+)`); got != port {
		t.Errorf("got the port %d for probes, want %d", got, port)
	}
	if got := number(t, name, `--elector=http://127.0.0.1:(\d+)/leader`); got != port {
		t.Errorf("the program asks port %d, want %d", got, port)
	}
	for _, probe := range regexp.MustCompile(`path: (\S+),`).FindAllStringSubmatch(sidecar, -1) {
		if probe[1] != "/healthz" {
			t.Errorf("a probe of the elector asks %s, want /healthz: a standby is well, too", probe[1])
		}
	}
	_, policy, _ := strings.Cut(programs, "kind: NetworkPolicy")
	if policy == "" || strings.Contains(policy, "port: elector") || !strings.Contains(policy, "policyTypes: [Ingress]") {
		t.Error("got a policy that lets other pods ask the elector, want one that does not")
	}
}

func TestElectorIsStartedWithWhatZklockTakes(t *testing.T) {
	_, list, found := strings.Cut(readFile(t, "elector.yaml"), "            - lead\n")
	list, _, ends := strings.Cut(list, "          ports:")
	if !found || !ends {
		t.Fatal("got no arguments of zklock lead")
	}
	args := []string{"lead", "-connect-timeout", "1ms"}
	for line := range strings.Lines(list) {
		arg, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "- "), " #")
		switch {
		case strings.HasPrefix(arg, "-zk="): // these servers are not here
			arg = "-zk=127.0.0.1:1"
		case strings.HasPrefix(arg, "-listen="):
			arg = "-listen=127.0.0.1:0"
		}
		args = append(args, arg)
	}
	takes(t, args)
}
