package server

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// postgres starts a cluster of databases with its defaults, save that it listens on loopback alone. Everyone there may
// connect.
func (s *Server) postgres(ctx context.Context, port string) error {
	bin, err := postgresPrograms()
	if err != nil {
		return err
	}
	server := filepath.Join(bin, "postgres")
	if err := s.version(server, `PostgreSQL\) ([\d.]+)`); err != nil {
		return err
	}
	who, err := unprivileged()
	if err != nil {
		return err
	}
	if who != nil {
		if err := os.Chown(s.dir, int(who.Uid), int(who.Gid)); err != nil {
			return err
		}
	}
	data := filepath.Join(s.dir, port)
	initdb := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "--pgdata", data, "--username", "postgres",
		"--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions")
	initdb.Dir, initdb.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: who}
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	c := exec.Command(server, "-D", data, "-c", "listen_addresses=127.0.0.1", "-c", "port="+port, "-c", "unix_socket_directories=")
	c.Dir, c.SysProcAttr = s.dir, &syscall.SysProcAttr{Credential: who}
	s.stop = syscall.SIGQUIT // an immediate shutdown, which leaves no shared memory behind
	s.Process, err = start(c, filepath.Join(s.dir, "log"), false)
	return err
}

// postgresPrograms finds the directory of the newest version: Debian has its servers apart from PATH.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return postgresVersion(a) - postgresVersion(b) })), nil
	}
	program, err := exec.LookPath("initdb")
	if err != nil {
		return "", fmt.Errorf("initdb of PostgreSQL: %w", ErrMissing)
	}
	return filepath.Dir(program), nil
}

// postgresVersion is the number in .../VERSION/bin/initdb.
func postgresVersion(initdb string) int {
	version, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(initdb))))
	if err != nil {
		return 0
	}
	return version
}

// unprivileged is the user that a server runs as which refuses root; nil for the present one.
func unprivileged() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil //nolint:nilnil // the present user needs no credential
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		if who, err = user.LookupId("65534"); err != nil { // the one without any rights
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func (s *Server) postgresServes() bool {
	return strings.Contains(s.Log(), "database system is ready to accept connections")
}
