package live

import (
	"slices"
	"time"

	"github.com/gocurator/curator/framework/internal/transport"
	"github.com/gocurator/curator/framework/internal/watches"
	"github.com/gocurator/curator/framework/session"
)

// WatchDataSince is for [session.Watches].
func (s *Session) WatchDataSince(zxid int64, nodes ...session.WatchedNode) []session.Watch {
	return s.watching.subscribeSince(zxid, nodes)
}

func (w *watching) subscribeSince(zxid int64, nodes []session.WatchedNode) []session.Watch {
	watched, set, since := make([]session.Watch, len(nodes)), make([]watch, len(nodes)), make([]watches.Since, len(nodes))
	for i, n := range nodes {
		mustWake(n.Path, n.Wake)
		set[i] = watch{all: w, key: watches.Key{Path: n.Path}}
		since[i] = watches.Since{
			Sub: &set[i].subscription, Path: n.Path, Wake: n.Wake, Readable: n.Readable, Doubtful: n.Doubtful,
			Optional: n.Optional,
		}
	}
	w.begin(func(now time.Time) {
		w.table.SubscribeSince(zxid, since, w.setsWatches(), now)
	})
	for i := range set {
		if set[i].subscription.Begun() {
			watched[i] = &set[i]
		}
	}
	return watched
}

// setsWatches reports whether watches may be set without reads. ClickHouse Keeper before 26.1 closes the connection on
// setWatches, and takes no session back. Before 26.7 it does not take create2 either, which a client that creates nodes
// has tried before: only a server that takes create2 gets setWatches.
func (w *watching) setsWatches() bool {
	return !w.readsAll.Load() && w.support.Has(transport.FeatureCreate2) && !w.support.Lacks(transport.FeatureSetWatches)
}

// setData makes one call of the first n of the requests: of as many as may go together and fit.
func (w *watching) setData(requests []watches.Request) (call *transport.Call, n int) {
	var paths []string
	size := transport.SetWatches(0, nil, nil).Size()
	for i, r := range requests {
		size += 4 + len(r.Path)
		if i > 0 && (!r.Joins(requests[i-1]) || size > w.cfg.MaxRequest) {
			break
		}
		paths = append(paths, r.Path)
	}
	set := slices.Clone(requests[:len(paths)]) // the table uses the slice again
	return transport.SetWatches(set[0].Since, paths, func(err error) {
		w.apply(watches.Answer{Outcome: outcome(watches.SetData, err), Err: err}, set...)
	}), len(set)
}
