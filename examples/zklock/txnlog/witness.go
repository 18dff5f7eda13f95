package txnlog

import "slices"

// witnessed returns the last zxid before the first one of an epoch, by the servers that are witnesses of it. It is not
// found if there is none, or if they contradict each other.
func (e *epochs) witnessed(newer int64) (end int64, found bool) {
	for server, spans := range e.of {
		i := begin(spans, newer)
		if i == 0 || i == len(spans) || spans[i].first != newer<<32+1 {
			continue
		}
		last := spans[i-1].last
		switch {
		case !e.isWitness(server, last, spans[i].first):
		case found && last != end:
			return 0, false
		default:
			end, found = last, true
		}
	}
	return end, found
}

// isWitness reports whether a log lacks nothing that its server had between two of its records. A server that is
// behind its leader may get a snapshot, and logs nothing of what is in it: then it writes a snapshot of its own, with a
// zxid between the two. That none was removed is known from one that is older, since servers remove the oldest first.
// Of a server that has its snapshots elsewhere it is not known which these are: it is none, unless that is so of all
// servers. Then all of the other directories show it.
func (e *epochs) isWitness(server int, last, next int64) bool {
	s := e.servers[server]
	if e.damaged[server] || s.joined != 0 && next >= s.joined {
		return false
	}
	if len(s.snapshots) > 0 {
		return showsNone(s.snapshots, last, next)
	}
	for _, d := range e.apart {
		if !showsNone(d.snapshots, last, next) {
			return false
		}
	}
	return len(e.apart) > 0
}

// showsNone reports whether a server has written no snapshot between two zxids.
func showsNone(snapshots []logFile, last, next int64) bool {
	between := func(s logFile) bool { return s.first > last && s.first < next }
	return hasOlder(snapshots, last+1) && !slices.ContainsFunc(snapshots, between)
}

func hasOlder(snapshots []logFile, before int64) bool {
	return slices.ContainsFunc(snapshots, func(s logFile) bool { return s.first < before })
}
