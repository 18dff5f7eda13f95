//go:build linux

package run

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestCgroupOfAProcessIsFoundWhereItIsMounted(t *testing.T) {
	const (
		v1   = "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
		root = "41 31 0:38 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
	)
	for name, c := range map[string]struct {
		self, mounts string
		dir          string // none: not found
	}{
		"systemd":                    {"0::/system.slice/a.service\n", root, "/sys/fs/cgroup/system.slice/a.service"},
		"the root, beside version 1": {"2:cpu:/x\n0::/\n", v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n", "/sys/fs/cgroup/unified"},
		"version 1 alone":            {"2:cpu:/x\n", v1, ""},
		"not mounted":                {"0::/a\n", v1, ""},
		"a part of it is mounted":    {"0::/a/b\n", "1 2 0:1 /a /mnt/c rw - cgroup2 none rw\n", "/mnt/c/b"},
		"its own part is mounted":    {"0::/a\n", "1 2 0:1 /a /mnt/c rw - cgroup2 none rw\n", "/mnt/c"},
		"another part is mounted":    {"0::/ab\n", "1 2 0:1 /a /mnt/c rw - cgroup2 none rw\n", ""},
		"outside of the namespace":   {"0::/../b\n", root, ""},
		"a blank in the name":        {"0::/a\n", `1 2 0:1 / /mnt/c\040d rw - cgroup2 none rw` + "\n", "/mnt/c d/a"},
		"nonsense":                   {"0::a\n", " - cgroup2\n1 2 - cgroup2 x\n - \n-", ""},
	} {
		got, ok := findCgroup([]byte(c.self), []byte(c.mounts))
		if ok != (c.dir != "") || ok && got.dir != c.dir {
			t.Errorf("%s: got %+v, %v, want the directory %q", name, got, ok, c.dir)
		}
	}
}

func FuzzCgroup(f *testing.F) {
	f.Add([]byte("0::/a\n"), []byte("1 2 0:1 / /mnt/c rw - cgroup2 none rw\n"), "zklock-1-2.3-4.5")
	f.Fuzz(func(t *testing.T, self, mounts []byte, name string) {
		if got, ok := findCgroup(self, mounts); ok && got.path[0] != '/' {
			t.Errorf("got %+v", got)
		}
		if front, keeper, ok := parseCgroupName(name, "pid:[1]"); ok && (front.pid <= 0 || keeper.pid <= 0) {
			t.Errorf("%q: got processes %v, %v", name, front, keeper)
		}
	})
}

func TestCgroupThatCannotBeKilledIsNotKept(t *testing.T) {
	parent := cgroup{t.TempDir(), "/"}
	if g, err := newCgroup(parent, "zklock-a"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %+v, %v, want an error: there is no cgroup.kill", g, err)
	}
	if left, err := os.ReadDir(parent.dir); len(left) != 0 || err != nil {
		t.Errorf("got %v, %v left in the directory, want nothing", left, err)
	}
	if _, err := newCgroup(cgroup{filepath.Join(parent.dir, "missing"), "/"}, "zklock-a"); err == nil {
		t.Error("got no error without a parent")
	}
}

func TestCgroupIsKilledByItsFile(t *testing.T) {
	g := &cgroup{t.TempDir(), "/a"}
	if g.kill() || (*cgroup)(nil).kill() {
		t.Error("a cgroup is killed that has no such file")
	}
	if err := os.WriteFile(g.file("cgroup.kill"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	killed := g.kill()
	if text, err := os.ReadFile(g.file("cgroup.kill")); !killed || string(text) != "1" || err != nil {
		t.Errorf("got %v, and %q, %v in the file, want 1", killed, text, err)
	}
}

func TestCgroupIsRemovedWithThoseBelowItUnlessItIsInUse(t *testing.T) {
	dir := t.TempDir()
	for name, used := range map[string]bool{"empty": false, "used": true} {
		g := &cgroup{dir: filepath.Join(dir, name)}
		if err := os.MkdirAll(g.file("a/b"), 0o700); err != nil {
			t.Fatal(err)
		}
		if used { // a file stands for a process: neither lets the directory go
			if err := os.WriteFile(g.file("a/b/process"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		g.remove()
		if _, err := os.Stat(g.dir); used == errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	(*cgroup)(nil).remove()
}

func TestProcessesOfACgroupAreThoseBelowItsPath(t *testing.T) {
	f := fakeProc{t, t.TempDir()}
	g := &cgroup{path: "/x/zklock-1"}
	for pid, path := range map[int]string{1: "/x/zklock-1", 2: "/x/zklock-1/b", 3: "/x/zklock-12", 4: "/x"} {
		f.add(pid, 0, "S", "pid:[1]", "", 1)
		if err := os.WriteFile(procfs(f.dir).file(pid, "cgroup"), []byte("1:cpu:/x/zklock-1\n0::"+path+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, want := g.has(procfs(f.dir), pid), pid <= 2; got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
	if g.has(procfs(f.dir), 5) || (*cgroup)(nil).has(procfs(f.dir), 1) {
		t.Error("a process is in a cgroup that it cannot be in")
	}
}

func TestOnlyCgroupsWhoseFrontAndKeeperAreGoneAreLeftOver(t *testing.T) {
	f := fakeProc{t, t.TempDir()}
	p := procfs(f.dir)
	f.add(os.Getpid(), 0, "R", "pid:[1]", "", 1)
	f.add(10, 0, "S", "pid:[1]", "", 5)
	f.add(30, 0, "S", "pid:[1]", "", 5)
	parent := cgroup{t.TempDir(), "/"}
	for _, name := range []string{
		"zklock-1-20.5-21.5", // gone
		"zklock-1-10.6-21.5", // the number of the front has been given again
		"zklock-1-10.5-21.5", // the front lives
		"zklock-1-20.5-10.5", // the keeper lives
		"zklock-2-20.5-21.5", // belongs to another container
		"zklock-1-20.5", "zklock-1-x.5-21.5", "a.service",
	} {
		if err := os.Mkdir(filepath.Join(parent.dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, g := range p.leftovers(parent) {
		got = append(got, filepath.Base(g.dir))
	}
	if want := []string{"zklock-1-10.6-21.5", "zklock-1-20.5-21.5"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	busy := filepath.Join(parent.dir, got[0])
	if err := os.WriteFile(filepath.Join(busy, "cgroup.procs"), []byte("30\n31\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if living := p.endLeftovers(parent, 0); len(living) != 1 || living[0].pid != 30 {
		t.Errorf("got %v living, want process 30: 31 has gone", living)
	}
	if _, err := os.Stat(filepath.Join(parent.dir, "zklock-1-20.5-21.5")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty one is left: %v", err)
	}
	for _, space := range []string{"pid:[1]", "pid:[4026531836]"} {
		name := cgroupName(space, identity{10, 5}, identity{11, 6})
		if front, keeper, ok := parseCgroupName(name, space); !ok || front != (identity{10, 5}) || keeper != (identity{11, 6}) {
			t.Errorf("%s: got %v, %v, %v", name, front, keeper, ok)
		}
	}
}
