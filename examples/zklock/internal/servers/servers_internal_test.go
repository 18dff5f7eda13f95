package servers

import (
	"context"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/retry"
)

func complete(t *testing.T, env map[string]string, args ...string) (*Config, error) {
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
		got, err := complete(t, c.env, c.args...)
		if err != nil || got.Servers() != c.want || got.Session != 7*time.Second && len(c.args) == 0 {
			t.Errorf("%v %v: got %q, %v, %v, want %q, 7s", c.env, c.args, got.Servers(), got.Session, err, c.want)
		}
	}
}

func TestWrongSettingsNameTheirPlace(t *testing.T) {
	bad := file(t, 0o644, "zk = a:1\nsesion = 3s\n")
	for want, env := range map[string]map[string]string{
		"-zk":            {},
		"ZKLOCK_SESSION": {"ZKLOCK_SESSION": "soon", "ZOOKEEPER": "a:1"},
		bad + ":2":       {"ZKLOCK_CONFIG": bad},
		"configuration":  {"ZKLOCK_CONFIG": "/nothing/here", "ZOOKEEPER": "a:1"},
	} {
		if _, err := complete(t, env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want an error with %q", env, err, want)
		}
	}
}

func TestCredentialsThatOthersCanReadAreRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes")
	}
	for _, c := range []struct {
		name    string
		mode    os.FileMode
		refused bool
	}{{"-auth", 0o600, false}, {"-auth", 0o640, true}, {"-auth", 0o604, true}, {"-sasl", 0o600, false}, {"-sasl", 0o640, true}} {
		_, err := complete(t, nil, "-zk", "a:1", c.name, file(t, c.mode, "digest me:s3cret"))
		if (err != nil) != c.refused {
			t.Errorf("a file of %s of mode %o: got %v, want refused %v", c.name, c.mode, err, c.refused)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error shows the credentials: %v", err)
		}
	}
}

func TestClientHasTheSettings(t *testing.T) {
	c, err := complete(t, map[string]string{"ZOOKEEPER": "a:1"}, "-auth", file(t, 0o600, "digest me:s3cret"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := c.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
	if c, err = complete(t, map[string]string{"ZOOKEEPER": "a:1"}, "-tls-ca", "/nothing/here"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Client(nil); err == nil || !strings.Contains(err.Error(), "-tls-ca") {
		t.Errorf("got %v, want an error with -tls-ca", err)
	}
}

// An operation that waits for a connection as long as -connect-timeout says is not tried again: the flag bounds the
// whole.
func TestConnectTimeoutBoundsAllTriesOfAnOperation(t *testing.T) {
	c, err := complete(t, map[string]string{"ZOOKEEPER": "127.0.0.1:1"}, "-connect-timeout", "2s")
	if err != nil {
		t.Fatal(err)
	}
	client, err := c.Client(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if got := client.ConnectionTimeout(); got != 2*time.Second {
		t.Errorf("got connection timeout %v, want 2s", got)
	}
	policy := client.RetryPolicy()
	zktest.Bubble(t, func(t *testing.T) {
		for _, test := range []struct {
			takes time.Duration // each try
			want  int           // tries
		}{{2 * time.Second, 1}, {900 * time.Millisecond, 2}} {
			tries := 0
			_ = retry.Do(t.Context(), policy, func(context.Context) error {
				tries++
				time.Sleep(test.takes)
				return errors.New("no server")
			})
			if tries != test.want {
				t.Errorf("tries that take %v each: got %d, want %d", test.takes, tries, test.want)
			}
		}
	})
}
