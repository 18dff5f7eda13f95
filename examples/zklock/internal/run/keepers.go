package run

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
)

// keepers names, in the environment of a command, who keeps each of the paths in held, the front and the keeper, and at
// which servers: 12.345-13.346@zk1%3A2181. What remains of a command after both were killed at one moment is known by
// it.
const keepers = "ZKLOCK_KEEPERS"

// An identity identifies a process, also after its number was given to another one.
type identity struct {
	pid   int
	start uint64 // when it began, in the system's ticks
}

func (i identity) String() string { return fmt.Sprintf("%d.%d", i.pid, i.start) }

// parseIdentity is the opposite of String.
func parseIdentity(text string) (i identity, ok bool) {
	pid, start, found := strings.Cut(text, ".")
	number, err1 := strconv.Atoi(pid)
	at, err2 := strconv.ParseUint(start, 10, 64)
	return identity{number, at}, found && err1 == nil && err2 == nil && number > 0
}

// A kept path is one that a process is a part of the hold of.
type kept struct {
	servers, path string // servers may end with a chroot
	front, keeper identity
}

// is reports whether this is the lock of that path at those servers, which may be named in another order, or not all.
// The same path at other servers is another lock. So it is taken to be if no server has the same name in both.
func (k kept) is(servers, path string) bool {
	ours, chroot := hosts(servers)
	its, itsChroot := hosts(k.servers)
	return chroot+path == itsChroot+k.path && slices.ContainsFunc(ours, func(host string) bool { return slices.Contains(its, host) })
}

// hosts splits a connect string.
func hosts(servers string) (all []string, chroot string) {
	servers, chroot = fourletter.Split(servers)
	for host := range strings.SplitSeq(servers, ",") {
		host = strings.TrimSpace(host)
		if !strings.Contains(host[strings.LastIndexByte(host, ']')+1:], ":") {
			host += ":2181"
		}
		all = append(all, host)
	}
	return all, chroot
}

// keptBy returns the paths of a process, by its environment as the system has it: variables that end with NUL. Anybody
// can write anything there. What does not fit together says nothing.
func keptBy(environ []byte) (all []kept) {
	values := map[string]string{}
	for variable := range bytes.SplitSeq(environ, []byte{0}) {
		name, value, _ := strings.Cut(string(variable), "=")
		if _, twice := values[name]; !twice && (name == held || name == keepers) {
			values[name] = value
		}
	}
	paths, pairs := heldAround(func(name string) string { return values[name] }), strings.Split(values[keepers], ":")
	if len(paths) != len(pairs) {
		return nil
	}
	for i, path := range paths {
		pair, servers, at := strings.Cut(pairs[i], "@")
		first, second, _ := strings.Cut(pair, "-")
		front, ok1 := parseIdentity(first)
		keeper, ok2 := parseIdentity(second)
		if ok1 && ok2 && at {
			all = append(all, kept{unescape.Replace(servers), path, front, keeper})
		}
	}
	return all
}

// orphaned reports whether a process is left over from a hold of one of the paths at the servers: its front and its
// keeper both live no more. One that lives ends what remains, or holds the lock still, as another holder of a semaphore
// does.
func orphaned(all []kept, servers string, paths []string, lives func(identity) bool) bool {
	return slices.ContainsFunc(all, func(k kept) bool {
		ours := slices.ContainsFunc(paths, func(path string) bool { return k.is(servers, path) })
		return ours && !lives(k.front) && !lives(k.keeper)
	})
}

// keepersOf returns the variable for a command: that of around, which has so many paths, and the own for each of ours.
// An older zklock around this one does not say who keeps its paths.
func keepersOf(around string, outer, ours int, own kept) string {
	pairs := strings.Split(around, ":")
	if around == "" || len(pairs) != outer {
		pairs = make([]string, outer)
	}
	pair := own.front.String() + "-" + own.keeper.String() + "@" + escape.Replace(own.servers)
	return keepers + "=" + strings.Join(slices.Concat(pairs, slices.Repeat([]string{pair}, ours)), ":")
}
