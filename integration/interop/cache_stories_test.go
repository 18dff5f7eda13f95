//go:build linux

package interop_test

// A cacheStory is what happens below the root of three caches.
type cacheStory struct {
	name   string
	levels int      // how many are cached; all for 0
	before []change // the caches start
	steps  []step
	// What Java's caches do otherwise. Each must happen.
	deviations []deviation
}

// A step is over when all three caches have what came of it.
type step struct {
	how     string
	changes []change
}

// How changes are made. Each on its own, or together: then a cache reads what is left when all of them have happened.
const (
	singly      = "singly"
	together    = "together"     // in a transaction
	whileCutOff = "cut off"      // no cache has a connection
	whileEnded  = "session over" // the same, and the sessions of all end
)

// A change is made below the root. The guest is another client, whose ephemeral nodes go when it leaves.
type change struct{ op, path, data string }

func create(path, data string) change    { return change{"create", path, data} }
func set(path, data string) change       { return change{"set", path, data} }
func remove(path string) change          { return change{"remove", path, ""} }
func ephemeral(path, data string) change { return change{"ephemeral", path, data} }
func secret(path, data string) change    { return change{"secret", path, data} } // for the guest alone to read
func publish(path, data string) change   { return change{"publish", path, data} }
func guestLeaves() change                { return change{"leave", "", ""} }

// A deviation is what one of Java's caches makes of a path: its events from the start to the end, or that it never has
// the node.
type deviation struct{ kind, path, events, why string }

const never = "never"

// Why Java's caches report something else.
const (
	comparesVersions = "CuratorCache compares versions, not czxids: a node that was deleted and created again while the " +
		"cache was cut off is changed"
	sameVersion = "CuratorCache compares versions: a node that was deleted and created again while the cache was cut off, " +
		"with the same version, is unchanged"
	comparesCversion = "CuratorCache lists a node again if its cversion has changed, so it never has the children of one " +
		"that was created again with as many changes"
	comparesMzxid = "TreeCache compares mzxids, not czxids: a node that was deleted and created again while the cache was " +
		"cut off is updated"
	refused   = "TreeCache has no watch on a node that it could not read, until it is reconnected"
	losesRoot = "TreeCache does not watch a missing root any more, until it is reconnected, once it was created and deleted " +
		"again before the cache could read it"
)

var cacheStories = []cacheStory{
	{
		name:   "nodes come, change and go",
		before: []change{create("/", "root"), create("/a", "1"), create("/a/b", "1"), create("/c", "")},
		steps: []step{
			{singly, []change{
				set("/a", "2"), create("/d", "1"), set("/a/b", "2"), set("/a/b", "2"), create("/c/e", "1"), remove("/a/b"),
				remove("/a"), create("/a", "3"), set("/", "root 2"), set("/c", "not empty"), set("/d", ""), remove("/c/e"),
			}},
		},
	},
	{
		name:   "a deep tree comes and goes",
		before: []change{create("/", "")},
		steps: []step{
			{singly, []change{create("/a", "1"), create("/a/b", "2"), create("/a/b/c", "3"), create("/a/b/c/d", "4")}},
			{together, []change{remove("/a/b/c/d"), remove("/a/b/c"), remove("/a/b"), remove("/a")}},
			{together, []change{create("/a", "1"), create("/a/b", "2"), create("/a/b/c", "3"), create("/a/b/c/d", "4"), create("/a/b/c/e", "5")}},
			{singly, []change{set("/a/b/c/d", "6"), remove("/a/b/c/e")}},
		},
	},
	{
		name:   "changes of one transaction are merged",
		before: []change{create("/", ""), create("/a", "1"), create("/b", "1"), create("/c", "1")},
		steps: []step{
			{together, []change{set("/a", "2"), set("/a", "3"), create("/d", "1"), remove("/d"), create("/e", "1"), set("/e", "2")}},
			{together, []change{remove("/b"), create("/b", "2")}},
			{together, []change{set("/c", "2"), remove("/c")}},
		},
	},
	{
		name: "the root comes, goes and comes again",
		steps: []step{
			{singly, []change{create("/", "1"), create("/a", "1"), remove("/a"), remove("/"), create("/", "2"), create("/a", "2")}},
			{together, []change{remove("/a"), remove("/")}},
			{together, []change{create("/", "3"), create("/a", "3")}},
		},
	},
	{
		name: "the root comes and goes in one transaction",
		steps: []step{
			{together, []change{create("/", "1"), remove("/")}},
			{singly, []change{create("/", "2"), create("/a", "1")}},
		},
		deviations: []deviation{{treeCache, "/", never, losesRoot}, {treeCache, "/a", never, losesRoot}},
	},
	{
		name:   "ephemeral nodes go with their session",
		before: []change{create("/", ""), create("/a", ""), ephemeral("/a/1", "guest")},
		steps: []step{
			{singly, []change{ephemeral("/2", "guest"), create("/a/3", "stays"), guestLeaves()}},
		},
	},
	{
		name:   "nodes that may not be read",
		before: []change{create("/", ""), secret("/a", "1"), secret("/b", "1"), secret("/b/c", "1")},
		steps: []step{
			{singly, []change{
				create("/d", "1"), secret("/e", "1"), secret("/e/f", "1"), publish("/a", "2"), set("/a", "3"), remove("/a"),
				publish("/e", "2"), create("/end", ""),
			}},
		},
		deviations: []deviation{{treeCache, "/a", never, refused}, {treeCache, "/e", never, refused}},
	},
	{
		name:   "the node alone",
		levels: 1,
		before: []change{create("/", "1")},
		steps: []step{
			{singly, []change{create("/a", "1"), set("/", "2"), remove("/a"), remove("/"), create("/", "3")}},
			{whileCutOff, []change{set("/", "4")}},
		},
	},
	{
		name:   "the node and its children",
		levels: 2,
		before: []change{create("/", "1"), create("/a", "1"), create("/a/b", "1")},
		steps: []step{
			{singly, []change{set("/a", "2"), set("/a/b", "2"), create("/c", "1"), remove("/a/b"), remove("/a"), set("/c", "2")}},
			{whileCutOff, []change{create("/c/d", "1"), remove("/c/d"), create("/e", "1"), create("/e/f", "1")}},
		},
	},
	{
		name: "changes while the caches are cut off",
		before: []change{
			create("/", ""), create("/same", "1"), create("/set", "1"), create("/twice", "1"), create("/gone", "1"), create("/gone/too", "1"),
			create("/again", "1"), create("/again later", "1"), create("/again equal", "1"),
			create("/full", "1"), create("/full/a", "1"), create("/full/b", "1"),
			create("/other", "1"), create("/other/a", "1"),
			ephemeral("/guest", "1"),
		},
		steps: []step{
			{whileCutOff, []change{
				set("/set", "2"), set("/twice", "2"), set("/twice", "3"), remove("/gone/too"), remove("/gone"),
				create("/new", "1"), create("/new/child", "1"), create("/short", "1"), remove("/short"),
				remove("/again"), create("/again", "2"),
				remove("/again later"), create("/again later", "2"), set("/again later", "3"),
				remove("/again equal"), create("/again equal", "1"),
				remove("/full/a"), remove("/full/b"), remove("/full"),
				create("/full", "1"), create("/full/a", "1"), create("/full/b", "1"),
				remove("/other/a"), remove("/other"), create("/other", "1"), create("/other/b", "1"),
				guestLeaves(),
			}},
			{singly, []change{set("/again", "4"), set("/full/a", "2"), remove("/set"), create("/end", "")}},
		},
		deviations: []deviation{
			{curatorCache, "/again", "created 1, changed 4", sameVersion},
			{curatorCache, "/again later", "created 1, changed 3", comparesVersions},
			{curatorCache, "/again equal", "created 1", sameVersion},
			{curatorCache, "/full", "created 1", sameVersion},
			{curatorCache, "/full/a", "created 1, changed 2", sameVersion},
			{curatorCache, "/full/b", "created 1", sameVersion},
			{curatorCache, "/other", "created 1", sameVersion},
			{curatorCache, "/other/b", never, comparesCversion},
			{treeCache, "/again", "created 1, changed 2, changed 4", comparesMzxid},
			{treeCache, "/again later", "created 1, changed 3", comparesMzxid},
			{treeCache, "/again equal", "created 1, changed 1", comparesMzxid},
			{treeCache, "/full", "created 1, changed 1", comparesMzxid},
			{treeCache, "/full/a", "created 1, changed 1, changed 2", comparesMzxid},
			{treeCache, "/full/b", "created 1, changed 1", comparesMzxid},
			{treeCache, "/other", "created 1, changed 1", comparesMzxid},
		},
	},
	{
		name:   "changes while the sessions end",
		before: []change{create("/", "1"), create("/a", "1"), create("/a/b", "1"), ephemeral("/guest", "1")},
		steps: []step{
			{whileEnded, []change{set("/a", "2"), remove("/a/b"), create("/c", "1"), guestLeaves()}},
			{singly, []change{set("/a", "3"), remove("/c"), create("/end", "")}},
		},
	},
	{
		name:   "the root goes and comes while the caches are cut off",
		before: []change{create("/", "1"), create("/a", "1")},
		steps: []step{
			{whileCutOff, []change{remove("/a"), remove("/")}},
			{whileCutOff, []change{create("/", "2"), create("/b", "1")}},
			{singly, []change{create("/end", "")}},
		},
	},
}
