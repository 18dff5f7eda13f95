package main

import (
	"slices"
	"testing"
)

func TestNamesThatAreAPackagesOwn(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	circle := f.of(t, "beside/circle")
	equal(t, "exported names", circle.exported, 5) // A, Own, Foreign, Another, Wide
	equal(t, "those that are no other package's", circle.ownNames, 3)
	equal(t, "words", circle.nouns, 7) // field, hidden, own, foreign, another, wide, down
}

func TestMethodsCountWithThePromotedOnes(t *testing.T) {
	f := measured(t, houseFlags(house(t)))
	equal(t, "of A", f.methodsOf("beside/circle.A"), "2")
	equal(t, "of Wide", f.methodsOf("beside/circle.Wide"), "3")
	equal(t, "of none", f.methodsOf("beside/circle.Gone"), "no such type")
}

func TestWordsOfNames(t *testing.T) {
	for name, want := range map[string][]string{
		"WatchChildren": {"watch", "children"}, "sessionID": {"session"}, "HTTPServers": {"http", "server"}, "a": nil,
		"acls": {"acl"}, "lastZxid": {"last", "zxid"},
	} {
		if got := splitName(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestTheGlossarysRowsAreCounted(t *testing.T) {
	dir := house(t)
	equal(t, "words", glossary(dir, "page.md"), 2)
	equal(t, "without a page", glossary(dir, "gone.md"), -1)
	equal(t, "without the heading", glossary(dir, "program.txt"), -1)
	equal(t, "as printed", number(-1), "")
}
