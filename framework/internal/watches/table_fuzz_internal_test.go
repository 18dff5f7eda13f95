package watches

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

var tableSeeds = flag.Uint64("seeds", 150, "how many random histories of the table are tried")

// walkScenes are wider than those that the model visits entirely.
func walkScenes() []scene {
	var wishes []wish
	for _, path := range modelPaths {
		wishes = append(wishes, wish{key: Key{path, false}, how: Promptly}, wish{key: Key{path, false}, how: Persistent},
			wish{key: Key{path, false}, how: Deferred}, wish{key: Key{path, true}, how: Promptly}, wish{key: Key{path, true}, how: Attentive},
			wish{key: Key{path, false}, knows: theStart}, wish{key: Key{path, false}, knows: allSeen},
			wish{key: Key{path, false}, knows: allSeen, read: true},
			wish{key: Key{path, false}, knows: allSeen, optional: true})
	}
	s := scene{wishes: wishes, others: modelPaths, calls: 120, changes: 120, faults: 60}
	keeper, trees, old := s, s, s
	keeper.keeper, trees.trees, old.trees, old.old = true, modelPaths, modelPaths, true
	return []scene{s, trees, old, keeper}
}

// A walk is one history through a world.
type walk struct {
	t       *testing.T
	world   *world
	history []string
}

func (k *walk) take(c choice) {
	k.history = append(k.history, c.name)
	k.world = k.world.after(c)
	if err := k.world.check(); err != nil {
		k.t.Fatalf("%v\nafter:\n\t%s", err, strings.Join(k.history, "\n\t"))
	}
}

// choices returns those whose name begins so; of the ways to quiet alone if that is asked.
func (k *walk) choices(prefix string, ways bool) (choices []choice) {
	k.world.choices(func(c choice) {
		if strings.HasPrefix(c.name, prefix) && (!ways || !isFault(c.name)) {
			choices = append(choices, c)
		}
	})
	return choices
}

// settle has everything answered.
func (k *walk) settle() {
	for n := 0; !k.world.isQuiet(); n++ {
		if n > 10_000 {
			k.t.Fatalf("the table asks for ever; at last:\n\t%s", strings.Join(k.history[len(k.history)-50:], "\n\t"))
		}
		k.take(k.choices("", true)[0])
	}
}

func runWalk(t *testing.T, pick func(n int) int, more func() bool) {
	scenes := walkScenes()
	k := &walk{t: t, world: newWorld(scenes[pick(len(scenes))])}
	for more() {
		choices := k.choices("", pick(2) == 0)
		if len(choices) > 0 {
			k.take(choices[pick(len(choices))])
		}
	}
	k.settle()
	for {
		ends := slices.Concat(k.choices("call: unsubscribe", false), k.choices("call: end", false))
		if len(ends) == 0 {
			break
		}
		k.take(ends[0])
	}
	k.settle()
}

func TestRandomHistoriesKeepTheInvariants(t *testing.T) {
	for seed := range *tableSeeds {
		random, n := rand.New(rand.NewPCG(seed, 0)), 0
		runWalk(t, random.IntN, func() bool { n++; return n < 200 })
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte("the quick brown fox jumps over the lazy dog"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		choices = choices[:min(len(choices), 2000)]
		pick := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			choice := int(choices[0])
			choices = choices[1:]
			return choice % n
		}
		runWalk(t, pick, func() bool { return len(choices) > 0 })
	})
}
