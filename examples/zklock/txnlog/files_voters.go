package txnlog

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// memberOf returns the number that a directory's server has in its ensemble; empty if no file says it.
func memberOf(dir string) string {
	names := []string{filepath.Join(dir, "myid")}
	if filepath.Base(dir) == versionDir {
		names = append(names, filepath.Join(filepath.Dir(dir), "myid"))
	}
	for _, name := range names {
		file, err := openRegular(name)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(file, 64))
		_ = file.Close() // it was only read
		if err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return ""
}

// setVoters numbers the servers. Directories of one server must not make a majority: those with one number in the
// ensemble, and equal ones of which no number says that they are of two servers.
func setVoters(servers []serverFiles) {
	for i := range servers {
		servers[i].voter = i
		j := slices.IndexFunc(servers[:i], func(other serverFiles) bool { return mayBeOne(servers[i], other) })
		if j >= 0 {
			servers[i].voter = servers[j].voter
		}
	}
}

func mayBeOne(a, b serverFiles) bool {
	if a.member != "" && b.member != "" {
		return a.member == b.member
	}
	sameName := func(a, b logFile) bool { return a.first == b.first }
	same := func(a, b logFile) bool { return sameContent(a.name, b.name) }
	return slices.EqualFunc(a.logs, b.logs, sameName) && slices.EqualFunc(a.logs, b.logs, same)
}

// An electorate says how many servers a transaction needs in whose logs it is.
type electorate struct {
	servers int // how many there may be: a directory for each, but for those of one number in the ensemble
	voters  int // how many there are for sure
}

// electorateOf counts servers. Directories that have snapshots alone are servers without a log, unless these are the
// snapshots of the others.
func electorateOf(servers, apart []serverFiles) electorate {
	more := len(apart)
	if haveApart(servers, apart) {
		more -= len(servers)
	}
	of := electorate{servers: more, voters: more}
	voters := map[int]struct{}{}
	for i, s := range servers {
		voters[s.voter] = struct{}{}
		if !slices.ContainsFunc(servers[:i], func(other serverFiles) bool { return s.member != "" && s.member == other.member }) {
			of.servers++
		}
	}
	of.voters += len(voters)
	return of
}

// hasMost reports whether most of the servers, or all, have logged what cursors stand on.
func (of electorate) hasMost(on []*cursor) bool {
	logged := 0
	for i, c := range on {
		if !slices.ContainsFunc(on[:i], func(other *cursor) bool { return other.voter == c.voter }) {
			logged++
		}
	}
	return logged > of.servers/2 || logged == of.voters
}

// haveApart reports whether all servers have their snapshots in directories of their own: no directory has both, and
// there are as many of both kinds. Otherwise one without a log may be of a server that has logged nothing.
func haveApart(servers, apart []serverFiles) bool {
	return len(apart) >= len(servers) && !slices.ContainsFunc(servers, func(s serverFiles) bool { return len(s.snapshots) > 0 })
}

// sameContent reports whether two files are equal, of which zeros at the end do not count.
func sameContent(a, b string) bool {
	one, err := openRegular(a)
	if err != nil {
		return false
	}
	defer func() { _ = one.Close() }() // it was only read
	two, err := openRegular(b)
	if err != nil {
		return false
	}
	defer func() { _ = two.Close() }() // it was only read
	return sameBytes(one, two)
}

func sameBytes(one, two *os.File) bool {
	a, b := make([]byte, bufferSize), make([]byte, bufferSize)
	for {
		n, errA := io.ReadFull(one, a)
		m, errB := io.ReadFull(two, b)
		common := min(n, m)
		if !bytes.Equal(a[:common], b[:common]) || !allZero(a[common:n]) || !allZero(b[common:m]) {
			return false
		}
		if errA != nil && errB != nil {
			return true
		}
	}
}
