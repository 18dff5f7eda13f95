package run

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"unsafe"
)

// Numbers of prctl(2) and waitid(2).
const (
	prSetChildSubreaper = 36
	idAny               = 0
	idProcess           = 1
	wExited             = 0x4
	wStopped            = 0x2
	wNoWait             = 0x1000000
)

// knowsDescendants says that members finds all that descend from the leader.
const knowsDescendants = true

// adoptOrphans makes this process the parent of every descendant whose own parent ends, also of one that has left its
// group and session. So nothing escapes, and wait says when all of them are gone.
func adoptOrphans() {
	_, _, _ = syscall.Syscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0) // fails before Linux 3.4 only
}

// childAttributes are the command's attributes: it is killed when its parent is.
func childAttributes(foreground bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Foreground: foreground, Pdeathsig: syscall.SIGKILL}
}

// in has the process start in the cgroup of a descriptor.
func in(fd int, attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.UseCgroupFD, attributes.CgroupFD = true, fd
	return attributes
}

// wait blocks until a child has ended or stopped, and returns it without reaping it, or ok = false if there is no child
// left. As long as the leader of a group is not reaped, no other group can get its number.
func (f *family) wait() (pid int, ok bool) {
	return waitID(idAny, 0, wExited|wStopped|wNoWait)
}

// ended reports whether a child that wait has returned has ended, and did not just stop.
func (f *family) ended(pid int) bool {
	got, ok := waitID(idProcess, pid, wExited|wNoWait|syscall.WNOHANG)
	return ok && got == pid
}

// signalInfo is the part of siginfo_t that waitid fills in the same way everywhere: the process.
type signalInfo struct {
	_   [3]int32
	_   [0]uintptr // the rest is aligned like a pointer
	pid int32
	_   [124]byte
}

func waitID(kind, id, options int) (pid int, ok bool) {
	for {
		var info signalInfo
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID,
			uintptr(kind), uintptr(id), uintptr(unsafe.Pointer(&info)), uintptr(options), 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		return int(info.pid), errno == 0
	}
}

// members are the processes below this one. Those that are zombies already do not count.
func (f *family) members() []process {
	return below(os.Getpid(), proc.processes())
}

// processes reads the directory. It leaves out what ends while it reads.
func (p procfs) processes() (all []process) {
	dir, err := os.Open(string(p))
	if err != nil {
		return nil // nothing but the group is known then
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read before an error counts
	for _, name := range names {
		if _, err := strconv.Atoi(name); err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(string(p), name, "stat"))
		if err != nil {
			continue
		}
		if p, ok := parseStat(stat); ok {
			all = append(all, p)
		}
	}
	return all
}

// parseStat reads a line of /proc/<pid>/stat: pid (name) state parent group … The name may contain anything,
// parentheses too.
func parseStat(line []byte) (p process, ok bool) {
	open, shut := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 1 || shut < open {
		return process{}, false
	}
	fields := bytes.Fields(line[shut+1:])
	if len(fields) < 3 {
		return process{}, false
	}
	pid, err1 := strconv.Atoi(string(bytes.TrimSpace(line[:open])))
	parent, err2 := strconv.Atoi(string(fields[1]))
	group, err3 := strconv.Atoi(string(fields[2]))
	return process{pid, parent, group, string(fields[0]), string(line[open+1 : shut])}, err1 == nil && err2 == nil && err3 == nil
}
