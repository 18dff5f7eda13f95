package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

const (
	testserverText = `testserver serves ZooKeeper from memory, for tests and to try things: start it, and it prints
the address at which it serves until Ctrl-C. testserver -h has its flags, and the faults that it makes on request.

testserver -playground 127.0.0.1:8080 also serves a page, http://127.0.0.1:8080/, on which locks are at work: cut a
cable, suspend a process, freeze the server.

`
	windowsText = `zklock shows locks in ZooKeeper, and looks for what is wrong. In a terminal:

  set ZOOKEEPER=zk1:2181,zk2:2181,zk3:2181
  zklock ls
  zklock who /locks/nightly
  zklock serve

zklock -h lists its commands. "run", which runs a command under a lock, is for Linux and macOS: on Windows it could not
end the command in time. testserver, of the same release, is a server to try things on.

`
)

// companions are the files beside a program, on Unix and on Windows: what it prints of itself. The man page and the
// completion are those of the program on this machine.
func (a *artefacts) companions(ctx context.Context, name string) (with map[bool][]file, licence []byte, err error) {
	licence, err = os.ReadFile(filepath.Join(a.tree.dir, "LICENSE"))
	if err != nil {
		return nil, nil, err
	}
	about := "This is a part of Curator for Go, commit " + a.commit + ". Its page:\n" +
		"https://" + library + "/tree/" + a.commit + "/examples/" + name + "\n"
	if name != "zklock" {
		readme := file{"README.txt", 0o644, []byte(testserverText + about)}
		return map[bool][]file{false: {readme}, true: {readme}}, licence, nil
	}
	start, err := os.ReadFile(filepath.Join(a.tree.dir, "examples", name, "QUICKSTART.md"))
	if err != nil {
		return nil, nil, err
	}
	with = map[bool][]file{
		false: {{"README.md", 0o644, []byte(string(start) + "\n" + about)}},
		true:  {{"README.txt", 0o644, []byte(windowsText + about)}},
	}
	if _, err := a.compile(ctx, name, target{"linux", runtime.GOARCH}); err != nil {
		return nil, nil, err
	}
	for _, f := range []struct{ name, args string }{
		{"man/man1/zklock.1", "help -man"},
		{"completions/zklock.bash", "completion bash"},
		{"completions/_zklock", "completion zsh"},
		{"completions/zklock.fish", "completion fish"},
	} {
		text, err := command(ctx, "", nil, filepath.Join(filepath.Dir(a.tree.dir), name), strings.Fields(f.args)...)
		if err != nil {
			return nil, nil, err
		}
		with[false] = append(with[false], file{f.name, 0o644, []byte(text + "\n")})
	}
	return with, licence, nil
}
