package history

import "github.com/gocurator/curator/examples/zklock/internal/survey"

// A mixture is a bit for each way in which clients of other libraries may have held beside those that were let in. The
// rule of this package is that of this library, in which all nodes of a directory count.
type mixture int

const (
	withKazoo mixture = 1 << iota
	withMutexes
	withDowngrade
)

// mixtures are what Lock.MayOverlap has.
var mixtures = []struct {
	mixture
	text string
}{
	{withKazoo, "kazoo's nodes stood beside others: Curator for Java does not wait for them, and kazoo not for others unless it is set to"},
	{withMutexes, "a mutex stood beside readers or writers: in Curator for Java these do not exclude each other"},
	{withDowngrade, "a writer's session queued a reader behind others: with Curator for Java before 5.5 it goes on as that, and is in at once"},
}

func (m mixture) texts() (list []string) {
	for _, one := range mixtures {
		if m&one.mixture != 0 {
			list = append(list, one.text)
		}
	}
	return list
}

// A recipe is whose rule a node stands by.
type recipe int

const (
	mutexes recipe = iota
	readWrite
	kazoo
	recipes // how many there are
)

func recipeOf(kind survey.Kind) recipe {
	switch kind {
	case survey.KazooLock, survey.KazooRead:
		return kazoo
	case survey.Reader, survey.Writer:
		return readWrite
	default:
		return mutexes
	}
}

// mix notes what stands together as a contender enters, which is in the queue.
func (l *line) mix(one *contender) {
	if l.family != Exclusion {
		return
	}
	l.standing[recipeOf(one.Kind)]++
	if l.standing[kazoo] > 0 && l.standing[mutexes]+l.standing[readWrite] > 0 {
		l.mixed |= withKazoo
	}
	if l.standing[mutexes] > 0 && l.standing[readWrite] > 0 {
		l.mixed |= withMutexes
	}
	if one.Kind == survey.Reader && !l.mayEnter(one) && l.holdsWriter(one.Session) {
		l.mixed |= withDowngrade
	}
}

func (l *line) unmix(one *contender) {
	if l.family == Exclusion {
		l.standing[recipeOf(one.Kind)]--
	}
}

// holdsWriter reports whether a session's writer is first.
func (l *line) holdsWriter(session int64) bool {
	return len(l.exclusive) > 0 && l.exclusive[0].Kind == survey.Writer && l.exclusive[0].Session == session && l.mayEnter(l.exclusive[0])
}
