package doctor

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A release is a version of ZooKeeper: major, minor and patch.
type release [3]int

func (r release) before(other release) bool { return slices.Compare(r[:], other[:]) < 0 }

// From safeRelease on, releases have all mends that there are: ZOOKEEPER-4882 and ZOOKEEPER-5094 have none yet. What
// comes after lastOf38 in its line is not known here.
var (
	safeRelease = release{3, 9, 4}
	lastOf38    = release{3, 8, 6}
)

// Faults of ensembles, by ZooKeeper's issues and its source.
const (
	diffSync   = "ZOOKEEPER-4785" // a follower acknowledges a leader before the leader's transactions are on its disk
	shutdown   = "ZOOKEEPER-4712" // a follower that leaves its leader does not stop the writer of its log
	nullPacket = "ZOOKEEPER-4394" // a follower breaks off after it has acknowledged a leader
	logHole    = "ZOOKEEPER-4925" // a follower lacks transactions in what it hands on when it leads
)

// lossyReleases has the faults of releases before safeRelease, by the tags that contain each mend. A row begins where
// the one above it ends.
var lossyReleases = []struct {
	before release
	faults []string
}{
	{release{3, 8, 5}, []string{diffSync, shutdown, nullPacket}},
	{release{3, 9, 0}, []string{shutdown, nullPacket}},
	{release{3, 9, 2}, []string{diffSync, shutdown, nullPacket}},
	{release{3, 9, 3}, []string{shutdown, nullPacket}},
	{safeRelease, []string{logHole}},
}

// releaseFaults names the faults by which a release can lose answered writes.
func releaseFaults(r release) []string {
	for _, row := range lossyReleases {
		if r.before(row.before) {
			return row.faults
		}
	}
	return nil
}

// A version begins with its release. A commit, the name of a vendor, or the number of a vendor's build may follow:
// "3.9.5-293c895a", "3.4.5-cdh5.16.1--1", "3.5.5.7.1.7.0-551".
var versionText = regexp.MustCompile(`^(\d{1,6})\.(\d{1,6})\.(\d{1,6})(-(?i:snapshot|alpha|beta|rc)\d*)?(?:\D|$)`)

// parseVersion reads what srvr says. preview is set for a build from before the release. ok is false if the text does
// not begin with a release.
func parseVersion(text string) (r release, preview, ok bool) {
	parts := versionText.FindStringSubmatch(text)
	if parts == nil {
		return release{}, false, false
	}
	for i := range r {
		r[i], _ = strconv.Atoi(parts[i+1])
	}
	return r, parts[4] != "", true
}

// versionFinding judges a ZooKeeper server by its version. Its Level is empty if no fault of the release is known.
func versionFinding(address, version string) Finding {
	r, preview, ok := parseVersion(version)
	number := fmt.Sprintf("ZooKeeper %d.%d.%d", r[0], r[1], r[2])
	faults := strings.Join(releaseFaults(r), ", ")
	var level, what string
	switch {
	case !ok:
		level, what = Unknown, fmt.Sprintf("its version %q has a form that doctor does not know", version)
	case lastOf38.before(r) && r.before(release{3, 9, 0}):
		level, what = Unknown, number+" is newer than this doctor: whether it has the mends of "+faults+" is not known"
	case r.before(release{3, 8, 0}): // not each fault is in each of these, but none is mended
		level = Look
		what = number + " is of a line that has ended: it gets no mends against the loss of writes that were answered (" + faults + ")"
	case faults != "":
		level = Look
		what = "in an ensemble whose servers restart, " + number + " can lose writes that were answered, or lack them at some servers (" +
			faults + "): a holder's node is gone there, and the next contender is let in beside the holder"
	case preview:
		level, what = Unknown, "it is a build from before "+number+": which mends it has is not known"
	default:
		return Finding{}
	}
	return Finding{level, address, what, versionAdvice}
}

const versionAdvice = "upgrade to 3.9.4 or later; no release of 3.8 has all the mends; a vendor's build may have taken them over. " +
	"Until then guard what a lock protects by fencing tokens, or by checks in the same transaction"
