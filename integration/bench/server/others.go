package server

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// redis starts a Redis that writes nothing to a disk.
func (s *Server) redis(_ context.Context, port string) error {
	return s.redisWith(port, "--appendonly", "no")
}

// redisAlways starts a Redis that syncs each write to the disk before it answers, where there is one.
func (s *Server) redisAlways(_ context.Context, port string) error {
	return s.redisWith(port, "--appendonly", "yes", "--appendfsync", "always")
}

// threeRedis starts three servers that know nothing of each other, as the algorithm of redsync wants them.
func (s *Server) threeRedis(ctx context.Context, port string) error {
	if err := s.redis(ctx, port); err != nil {
		return err
	}
	first := s.Process
	for range 2 {
		port, err := freePort()
		if err == nil {
			err = s.redis(ctx, port)
		}
		next := s.Process
		s.Process = first
		if err != nil {
			return err
		}
		s.others = append(s.others, next)
		s.Addr += "," + net.JoinHostPort("127.0.0.1", port)
	}
	return nil
}

func (s *Server) redisWith(port string, persistence ...string) error {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return fmt.Errorf("redis-server: %w", ErrMissing)
	}
	if err := s.version("redis-server", `v=([\d.]+)`); err != nil {
		return err
	}
	dir := filepath.Join(s.dir, port)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return s.run("redis-server", append([]string{"--bind", "127.0.0.1", "--port", port, "--save", "", "--dir", dir}, persistence...)...)
}

// etcd starts one member with its defaults: it syncs each write to the disk, where there is one.
func (s *Server) etcd(ctx context.Context, port string) error {
	program, err := Build(ctx, Etcd, s.options.Built)
	if err == nil {
		err = s.version(program, `etcd Version: ([\d.]+)`)
	}
	if err != nil {
		return err
	}
	peer, err := freePort()
	if err != nil {
		return err
	}
	client, peers := "http://"+net.JoinHostPort("127.0.0.1", port), "http://"+net.JoinHostPort("127.0.0.1", peer)
	return s.run(program, "--name", "one", "--data-dir", filepath.Join(s.dir, "data"), "--log-level", "warn",
		"--listen-client-urls", client, "--advertise-client-urls", client,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "one="+peers)
}

// nats starts one server with JetStream, which syncs each write to the disk, where there is one. By default it would do
// so every two minutes.
func (s *Server) nats(ctx context.Context, port string) error {
	program, err := Build(ctx, NATS, s.options.Built)
	if err == nil {
		err = s.version(program, `v([\d.]+)`)
	}
	if err != nil {
		return err
	}
	file := filepath.Join(s.dir, "nats.conf")
	config := []string{
		"listen: 127.0.0.1:" + port,
		fmt.Sprintf("jetstream { store_dir: %q, sync_interval: always }", filepath.Join(s.dir, "data")),
	}
	if err := os.WriteFile(file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		return err
	}
	return s.run(program, "--config", file)
}

// version asks a program for its version.
func (s *Server) version(program, pattern string) error {
	answer, err := exec.Command(program, "--version").CombinedOutput()
	if found := regexp.MustCompile(pattern).FindSubmatch(answer); found != nil {
		s.Version = string(found[1])
	}
	return err
}
