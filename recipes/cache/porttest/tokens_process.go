package porttest

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gocurator/curator/recipes/cache"
)

// stores are the token stores of all processes, in the order of their start.
type stores struct {
	mu  sync.Mutex
	all []*TokenStore
}

func (all *stores) add(s *TokenStore) {
	all.mu.Lock()
	defer all.mu.Unlock()
	all.all = append(all.all, s)
}

func (all *stores) pick(dice *rand.Rand) *TokenStore {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.all[dice.IntN(len(all.all))]
}

// A tokensProcess issues tokens, renews and cancels those of all processes, and makes keys. Tokens with odd numbers are
// not cancelled: once one is issued, every process must find it.
type tokensProcess struct {
	w      *world
	p      *process
	store  *TokenStore
	stores *stores
}

func (all *stores) start(ctx context.Context, w *world, p *process) program {
	s := NewTokenStore(p.Client, w.root)
	if err := s.Start(ctx); err != nil {
		w.t.Fatal(err)
	}
	all.add(s)
	return &tokensProcess{w: w, p: p, store: s, stores: all}
}

func (s *tokensProcess) step(ctx context.Context) {
	ids := slices.SortedFunc(maps.Keys(s.store.Tokens()), func(a, b Identity) int { return a.Number - b.Number })
	dice := s.p.dice
	switch dice.IntN(8) {
	case 0:
		_ = s.store.RollKey(ctx) // an error leaves it open what the servers have, here and below
	case 1:
		_, _, _ = s.p.Create(ctx, fmt.Sprintf("%s/tokens/other%d", s.w.root, dice.IntN(3)), []byte("{}"))
	case 2:
		_ = s.p.Delete(ctx, fmt.Sprintf("%s/tokens/other%d", s.w.root, dice.IntN(3)), -1)
	case 3, 4:
		s.issue(ctx)
	default:
		if len(ids) == 0 {
			return
		}
		id := ids[dice.IntN(len(ids))]
		if id.Number%2 == 0 && dice.IntN(2) == 0 {
			_ = s.store.Cancel(ctx, id)
		} else {
			_ = s.store.Renew(ctx, id)
		}
	}
}

// issue makes a token. If its number is odd, a process picked at random must find it.
func (s *tokensProcess) issue(ctx context.Context) {
	id, err := s.store.Issue(ctx, s.p.name)
	if err != nil || id.Number%2 == 0 {
		return
	}
	if _, found, err := s.stores.pick(s.p.dice).Find(ctx, id); err == nil && !found {
		s.w.t.Errorf("seed %d: another process does not find token %v of %s", s.w.Seed, id, s.p.name)
	}
}

func (s *tokensProcess) has() map[string]string {
	all := map[string]string{}
	for id, token := range s.store.Tokens() {
		all[fmt.Sprint(id)] = fmt.Sprint(token)
	}
	for number, key := range s.store.Keys() {
		all[fmt.Sprint(number)] = key
	}
	return all
}

func (s *tokensProcess) wants(tree map[string]string) map[string]string {
	all := map[string]string{}
	for node, data := range tree {
		switch dir := path.Dir(node); dir {
		case s.w.root + "/tokens":
			if id, token, err := decode([]byte(data)); err == nil {
				all[fmt.Sprint(id)] = fmt.Sprint(token)
			}
		case s.w.root + "/keys":
			all[strings.TrimPrefix(path.Base(node), "key_")] = data
		}
	}
	return all
}

func (s *tokensProcess) caches() []*cache.CuratorCache { return []*cache.CuratorCache{s.store.cache} }

func (s *tokensProcess) close() { s.store.Close() }
