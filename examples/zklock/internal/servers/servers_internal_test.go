package servers

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func parse(t *testing.T, env map[string]string, args ...string) (*Config, error) {
	t.Helper()
	set := flag.NewFlagSet("zklock", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	c := Flags(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return c, c.Complete(func(name string) string { return env[name] })
}

func file(t *testing.T, mode os.FileMode, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "zklock.conf")
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFlagWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	conf := file(t, 0o644, "# servers\nzk = file:1\nsession = 7s\nconnect-timeout=3s\n")
	for _, c := range []struct {
		env  map[string]string
		args []string
		want string
	}{
		{map[string]string{"ZKLOCK_CONFIG": conf}, nil, "file:1"},
		{map[string]string{"ZKLOCK_CONFIG": conf, "ZOOKEEPER": "env:1"}, nil, "env:1"},
		{map[string]string{"ZKLOCK_CONFIG": conf, "ZOOKEEPER": "env:1", "ZKLOCK_ZK": "env:2"}, nil, "env:2"},
		{map[string]string{"ZKLOCK_CONFIG": conf, "ZKLOCK_ZK": "env:2"}, []string{"-zk", "flag:1"}, "flag:1"},
		{map[string]string{"XDG_CONFIG_HOME": filepath.Dir(conf)}, nil, "file:1"},
	} {
		got, err := parse(t, c.env, c.args...)
		if err != nil || got.Servers != c.want || got.Session != 7*time.Second && len(c.args) == 0 {
			t.Errorf("%v %v: got %q, %v, %v, want %q, 7s", c.env, c.args, got.Servers, got.Session, err, c.want)
		}
	}
}

func TestWrongSettingsNameTheirPlace(t *testing.T) {
	bad := file(t, 0o644, "zk = a:1\nsesion = 3s\n")
	for want, env := range map[string]map[string]string{
		"-zk":                     {},
		"ZKLOCK_SESSION":          {"ZKLOCK_SESSION": "soon", "ZOOKEEPER": "a:1"},
		bad + ":2":                {"ZKLOCK_CONFIG": bad},
		"configuration":           {"ZKLOCK_CONFIG": "/nothing/here", "ZOOKEEPER": "a:1"},
		"-tls-cert and -tls-key ": {"ZKLOCK_TLS_CERT": "x", "ZOOKEEPER": "a:1"},
	} {
		if _, err := parse(t, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want an error with %q", env, err, want)
		}
	}
}

func TestCredentialsThatOthersCanReadAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	const secret = "digest:me:s3cret"
	for _, c := range []struct {
		mode    os.FileMode
		refused bool
	}{{0o600, false}, {0o640, true}, {0o604, true}} {
		c1, err := parse(t, nil, "-zk", "a:1", "-auth-file", file(t, c.mode, secret))
		if err != nil {
			t.Fatal(err)
		}
		client, err := c1.Client(nil)
		if err == nil {
			client.Close()
		}
		if (err != nil) != c.refused {
			t.Errorf("an -auth-file of mode %o: got %v, want refused %v", c.mode, err, c.refused)
		}
		_, err = parse(t, map[string]string{"ZKLOCK_CONFIG": file(t, c.mode, "zk = a:1\nauth = "+secret)})
		if (err != nil) != c.refused {
			t.Errorf("a configuration of mode %o with credentials: got %v, want refused %v", c.mode, err, c.refused)
		}
	}
}

func TestErrorsShowNoCredentials(t *testing.T) {
	c, err := parse(t, map[string]string{"ZKLOCK_AUTH": "s3cret", "ZOOKEEPER": "a:1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client(nil); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an error that does not show the credentials", err)
	}
}
