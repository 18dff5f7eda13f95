package server

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
)

// redis starts a Redis that writes nothing to a disk.
func (s *Server) redis(port string) error {
	if err := s.version("redis-server", `v=([\d.]+)`); err != nil {
		return err
	}
	return s.run("redis-server", "--bind", "127.0.0.1", "--port", port, "--save", "", "--appendonly", "no", "--dir", s.dir)
}

// etcd starts one member as it is installed: it syncs every write to the disk, where there is one.
func (s *Server) etcd(port string) error {
	if err := s.version("etcd", `etcd Version: ([\d.]+)`); err != nil {
		return err
	}
	peer, err := freePort()
	if err != nil {
		return err
	}
	client, peers := "http://"+net.JoinHostPort("127.0.0.1", port), "http://"+net.JoinHostPort("127.0.0.1", peer)
	return s.run("etcd", "--name", "one", "--data-dir", filepath.Join(s.dir, "data"),
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "one="+peers)
}

// version asks a program for its version.
func (s *Server) version(program, pattern string) error {
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s: %w", program, ErrMissing)
	}
	answer, err := exec.Command(program, "--version").CombinedOutput()
	if found := regexp.MustCompile(pattern).FindSubmatch(answer); found != nil {
		s.Version = string(found[1])
	}
	return err
}
