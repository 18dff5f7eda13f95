//go:build unix

package zookeeper_test

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework/zktest/await"
	"github.com/gocurator/curator/integration/zookeeper"
)

func TestAnsweredWritesSurviveAKill(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	if got := server.FourLetter("ruok"); got != "imok" {
		t.Errorf("ruok: %q", got)
	}
	addr, pid := server.Addr(), server.PID()

	conn := connect(t, server)
	if _, err := conn.Create("/kept", []byte("data"), 0, zk.WorldACL(zk.PermAll)); err != nil {
		t.Fatal(err)
	}
	conn.Close()

	server.Kill()
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there after Kill: %v", pid, err)
	}
	if open, err := net.Dial("tcp", addr); err == nil {
		open.Close()
		t.Error("a process listens after Kill")
	}
	server.Kill() // once more does nothing

	server.Restart()
	if server.Addr() != addr || server.PID() == pid {
		t.Errorf("restarted at %s as %d, want the address %s and another process", server.Addr(), server.PID(), addr)
	}
	data, _, err := connect(t, server).Get("/kept")
	if err != nil || string(data) != "data" {
		t.Errorf("after the restart: %q, %v", data, err)
	}
}

func TestAFrozenServerAnswersWhenThawed(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{})
	server.Freeze()
	server.Freeze() // once more does nothing

	conn, err := net.Dial("tcp", server.Addr()) // the kernel still accepts
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("ruok")); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4)
	if err := conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(answer); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a frozen server answered %q, %v", answer[:n], err)
	}

	server.Unfreeze()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	n, err := conn.Read(answer)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		await.Fatalf(t, "the answer of a thawed server: %v", err)
	}
	if err != nil || string(answer[:n]) != "imok" {
		t.Errorf("a thawed server answered %q, %v", answer[:n], err)
	}
}

func TestConfigReachesTheServer(t *testing.T) {
	server := zookeeper.Start(t, zookeeper.Config{
		TickTime:               250 * time.Millisecond,
		MaxSessionTimeout:      7 * time.Second,
		ContainerCheckInterval: 200 * time.Millisecond,
		SuperPassword:          "secret",
		Properties:             map[string]string{"maxClientCnxns": "17"},
	})
	conf := server.FourLetter("conf")
	for _, want := range []string{"tickTime=250", "minSessionTimeout=500", "maxSessionTimeout=7000", "maxClientCnxns=17"} {
		if !strings.Contains(conf, want+"\n") {
			t.Errorf("conf lacks %s:\n%s", want, conf)
		}
	}
	if got := server.Mntr()["zk_version"]; !strings.HasPrefix(got, zookeeper.Version()+"-") {
		t.Errorf("the server's version is %q, want %s", got, zookeeper.Version())
	}

	conn := connect(t, server)
	if _, err := conn.Create("/closed", nil, 0, zk.DigestACL(zk.PermAll, "somebody", "else")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Get("/closed"); !errors.Is(err, zk.ErrNoAuth) {
		t.Errorf("without credentials: %v, want ErrNoAuth", err)
	}
	if err := conn.AddAuth("digest", []byte("super:secret")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := conn.Get("/closed"); err != nil {
		t.Errorf("as super: %v", err)
	}
}

func connect(t *testing.T, server *zookeeper.Server) *zk.Conn {
	t.Helper()
	return connectTo(t, server.Addr())
}

func connectTo(t *testing.T, addr string) *zk.Conn {
	t.Helper()
	conn, _, err := zk.Connect([]string{addr}, time.Minute, zk.WithLogInfo(false), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	return conn
}

type silent struct{}

func (silent) Printf(string, ...any) {}
