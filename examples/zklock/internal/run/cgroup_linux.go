package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// A cgroup has the command and all that descends from it, and ends all of it at once, processes of other users too,
// which no signal of an ordinary user reaches. It is below zklock's own, in the hierarchy of version 2, where that can
// be written: by root, and by the user that it is delegated to. Linux 5.14 is the first that can end one.
type cgroup struct {
	dir  string // in the file system
	path string // as /proc/<pid>/cgroup has it
}

// ownCgroup returns the directory of this process in the hierarchy of version 2, and its path there.
func (p procfs) ownCgroup() (parent cgroup, err error) {
	self, err1 := os.ReadFile(filepath.Join(string(p), "self", "cgroup"))
	mounts, err2 := os.ReadFile(filepath.Join(string(p), "self", "mountinfo"))
	if err := errors.Join(err1, err2); err != nil {
		return cgroup{}, err
	}
	parent, ok := findCgroup(self, mounts)
	if !ok {
		return cgroup{}, errors.New("no cgroup of version 2 is mounted for this process")
	}
	return parent, nil
}

// findCgroup finds the directory by the two files: the line 0::/path of the one, and the line of the other that says
// where a cgroup2 is mounted, and which part of the hierarchy: id parent device root mountpoint … - cgroup2 and more.
func findCgroup(self, mounts []byte) (found cgroup, ok bool) {
	path, ok := cgroupPath(self)
	if !ok {
		return cgroup{}, false
	}
	for line := range bytes.Lines(mounts) {
		before, after, _ := strings.Cut(string(line), " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if len(fields) < 5 || len(kind) == 0 || kind[0] != "cgroup2" {
			continue
		}
		rest, below := strings.CutPrefix(path, strings.TrimSuffix(mountText.Replace(fields[3]), "/"))
		if below && (rest == "" || rest[0] == '/') {
			return cgroup{filepath.Join(mountText.Replace(fields[4]), rest), path}, true
		}
	}
	return cgroup{}, false
}

// mountText undoes the escapes of mountinfo.
var mountText = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// cgroupPath finds the path in a file such as /proc/self/cgroup. One outside of what this process can see, with .. in
// it, is none.
func cgroupPath(file []byte) (path string, ok bool) {
	for line := range bytes.Lines(file) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), "0::"); ok {
			return path, strings.HasPrefix(path, "/") && !strings.Contains(path+"/", "/../")
		}
	}
	return "", false
}

// newCgroup makes one below the parent. Nothing remains of it after an error.
func newCgroup(parent cgroup, name string) (g *cgroup, err error) {
	g = &cgroup{filepath.Join(parent.dir, name), strings.TrimSuffix(parent.path, "/") + "/" + name}
	if err := os.Mkdir(g.dir, 0o755); err != nil { //nolint:gosec // others may look, as in all cgroups
		return nil, err
	}
	file, err := os.OpenFile(g.file("cgroup.kill"), os.O_WRONLY, 0)
	if err != nil {
		g.remove()
		return nil, err
	}
	return g, file.Close()
}

func (g *cgroup) file(name string) string { return filepath.Join(g.dir, name) }

// open returns a descriptor of the directory, to start a process in it.
func (g *cgroup) open() (fd int, err error) {
	return syscall.Open(g.dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
}

// kill ends all processes in it, and in all below it. It reports whether it could; with no cgroup it could not.
func (g *cgroup) kill() bool {
	if g == nil {
		return false
	}
	file, err := os.OpenFile(g.file("cgroup.kill"), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	_, err = file.WriteString("1")
	return errors.Join(err, file.Close()) == nil
}

// has reports whether a process is in it, or in one below it.
func (g *cgroup) has(p procfs, pid int) bool {
	if g == nil {
		return false
	}
	file, err := os.ReadFile(p.file(pid, "cgroup"))
	path, ok := cgroupPath(file)
	return err == nil && ok && strings.HasPrefix(path+"/", g.path+"/")
}

// remove removes it, with those that the command has made below it, and reports whether it is gone. One that has
// processes stays.
func (g *cgroup) remove() bool {
	if g == nil {
		return true
	}
	entries, _ := os.ReadDir(g.dir) // what was read before an error counts
	for _, e := range entries {
		if e.IsDir() {
			(&cgroup{dir: g.file(e.Name())}).remove()
		}
	}
	err := syscall.Rmdir(g.dir)
	return err == nil || errors.Is(err, os.ErrNotExist)
}

// commandCgroup makes the one for a command. Its name says whose it is.
func commandCgroup() (*cgroup, error) {
	parent, err := proc.ownCgroup()
	if err != nil {
		return nil, err
	}
	front, ok1 := identify(os.Getppid())
	keeper, ok2 := identify(os.Getpid())
	space, err := proc.space()
	if !ok1 || !ok2 || err != nil {
		return nil, errors.New("/proc does not show when processes began")
	}
	return newCgroup(parent, cgroupName(space, front, keeper))
}

// cgroupName is the name of a command's cgroup. In another namespace the numbers of processes mean other processes.
func cgroupName(space string, front, keeper identity) string {
	return fmt.Sprintf("zklock-%s-%s-%s", strings.Trim(space, "pid:[]"), front, keeper)
}

// parseCgroupName is the opposite of cgroupName, for the space.
func parseCgroupName(name, space string) (front, keeper identity, ok bool) {
	rest, ok := strings.CutPrefix(name, "zklock-"+strings.Trim(space, "pid:[]")+"-")
	first, second, _ := strings.Cut(rest, "-")
	front, ok1 := parseIdentity(first)
	keeper, ok2 := parseIdentity(second)
	return front, keeper, ok && ok1 && ok2
}
