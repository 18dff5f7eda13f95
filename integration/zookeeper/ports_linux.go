package zookeeper

import (
	"fmt"
	"syscall"
)

// claim keeps a port for this process, by a name for sockets that the kernel takes back when the process ends. Nothing
// listens there.
func claim(port int) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("claim port %d: %w", port, err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: fmt.Sprintf("@curator-port-%d", port)}); err != nil {
		_ = syscall.Close(fd)
		return fmt.Errorf("claim port %d: %w", port, err)
	}
	return nil
}
