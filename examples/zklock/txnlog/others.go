package txnlog

import "encoding/binary"

// typeCreateSession is the type of a session's begin.
const typeCreateSession = -10

// serversOfSessions are the numbers of the servers at which sessions began. A server numbers its sessions so that the
// first byte is its own number.
type serversOfSessions map[byte]struct{}

func (s serversOfSessions) add(c *cursor) {
	if kind := int32(binary.BigEndian.Uint32(c.record[28:])); kind == typeCreateSession {
		s[c.record[0]] = struct{}{}
	}
}

// noteOthers notes that not all servers of an ensemble are read: one alone is, of an ensemble, where epochs begin with
// 1, or fewer than those at which sessions began.
func (l *Log) noteOthers(sessions int) {
	one := len(l.read.servers) == 1 || l.read.voters == 1
	if l.read.electorate.servers < sessions || one && epoch(l.Last.Zxid) > 0 {
		l.addNote(Note{Kind: Others, File: l.read.servers[0].dir, Servers: sessions})
	}
}
