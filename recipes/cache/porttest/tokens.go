package porttest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/recipes/cache"
)

// A TokenStore is what several processes know of the tokens that any of them has issued: a node
// <root>/tokens/token_<number> for each token, and <root>/keys/key_<number> for each key that tokens are signed with.
// Each process has all of it in memory. It has the shape of Hadoop's ZKDelegationTokenSecretManager.
type TokenStore struct {
	client *framework.Client
	root   string
	cache  *cache.CuratorCache
	loaded chan struct{} // closed once memory has what was there

	mu        sync.Mutex
	keys      map[int]string
	tokens    map[Identity]Token
	malformed int // nodes of others that are no token
}

// An Identity says what a token is. Memory knows tokens by it, and not by their nodes.
type Identity struct {
	Number, Key int
	Owner       string
}

// A Token is what memory has of an [Identity].
type Token struct {
	Renewed   int
	Signature []byte
}

// ErrNoKey says that nothing has made a key yet.
var ErrNoKey = errors.New("there is no key to sign with")

// NewTokenStore returns a store below root. It does no I/O.
func NewTokenStore(client *framework.Client, root string) *TokenStore {
	s := &TokenStore{
		client: client, root: root, loaded: make(chan struct{}), keys: map[int]string{}, tokens: map[Identity]Token{},
		cache: cache.NewCuratorCache(client, root, cache.WithFilter(func(relative string) bool { return relative != "numbers" })),
	}
	s.cache.OnEvent(s.hear(sync.OnceFunc(func() { close(s.loaded) })))
	return s
}

// Start makes the directories, and blocks until memory has all that is there.
func (s *TokenStore) Start(ctx context.Context) error {
	for _, dir := range []string{"/keys", "/tokens", "/numbers/token", "/numbers/key"} {
		_, _, err := s.client.Create(ctx, s.root+dir, []byte("0"), framework.CreatingParentsIfNeeded())
		if err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return err
		}
	}
	if err := s.cache.Start(ctx); err != nil {
		return err
	}
	select {
	case <-s.loaded:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close ends the following. Memory keeps what it had.
func (s *TokenStore) Close() { _ = s.cache.Close() }

// RollKey makes a new key. Keys that are older than the newest three go.
func (s *TokenStore) RollKey(ctx context.Context) error {
	number, err := s.number(ctx, "key")
	if err != nil {
		return err
	}
	_, _, err = s.client.Create(ctx, s.keyPath(number), fmt.Appendf(nil, "secret %d", number))
	if err != nil && !errors.Is(err, zk.ErrNodeExists) { // the number is no other's: the node is of an earlier try
		return err
	}
	for old := range s.Keys() {
		if old <= number-3 {
			if err := s.client.Delete(ctx, s.keyPath(old), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			}
		}
	}
	return nil
}

// Issue makes a token, signed with the newest key that this process knows.
func (s *TokenStore) Issue(ctx context.Context, owner string) (Identity, error) {
	id := Identity{Owner: owner}
	var secret string
	for number, key := range s.Keys() {
		if number >= id.Key {
			id.Key, secret = number, key
		}
	}
	if secret == "" {
		return Identity{}, ErrNoKey
	}
	var err error
	if id.Number, err = s.number(ctx, "token"); err != nil {
		return Identity{}, err
	}
	_, _, err = s.client.Create(ctx, s.tokenPath(id), encode(id, Token{Signature: sign(id, secret)}))
	if errors.Is(err, zk.ErrNodeExists) {
		err = nil
	}
	return id, err
}

// Renew counts a renewal of a token. Errors: zk.ErrNoNode if it was cancelled.
func (s *TokenStore) Renew(ctx context.Context, id Identity) error {
	data, stat, err := s.client.Get(ctx, s.tokenPath(id))
	if err != nil {
		return err
	}
	_, token, err := decode(data)
	if err != nil {
		return err
	}
	token.Renewed++
	_, err = s.client.Set(ctx, s.tokenPath(id), encode(id, token), stat.Version)
	return err
}

// Cancel removes a token.
func (s *TokenStore) Cancel(ctx context.Context, id Identity) error {
	return s.client.Delete(ctx, s.tokenPath(id), -1)
}

// Find returns a token that any process has issued before the call. It looks into memory first.
func (s *TokenStore) Find(ctx context.Context, id Identity) (Token, bool, error) {
	if token, ok := s.Tokens()[id]; ok {
		return token, true, nil
	}
	if err := s.cache.Sync(ctx); err != nil {
		return Token{}, false, err
	}
	node, ok := s.cache.Get(s.tokenPath(id)) // memory follows the cache, and may still be behind it
	if !ok {
		return Token{}, false, nil
	}
	there, token, err := decode(node.Data)
	return token, err == nil && there == id, err
}

// Tokens returns what memory has.
func (s *TokenStore) Tokens() map[Identity]Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.tokens)
}

// Keys returns the keys that memory has, by their numbers.
func (s *TokenStore) Keys() map[int]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.keys)
}

// hear keeps memory. It removes a token by its old data: the name of the node does not say whose token it was.
func (s *TokenStore) hear(loaded func()) func(e cache.Event) {
	return func(e cache.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch dir, name := path.Split(e.Node().Path); {
		case e.Kind == cache.Synced:
			loaded()
		case e.Kind == cache.Stale:
		case dir == s.root+"/keys/":
			number, err := strconv.Atoi(strings.TrimPrefix(name, "key_"))
			switch {
			case err != nil:
				s.malformed++
			case e.Kind == cache.Deleted:
				delete(s.keys, number)
			default:
				s.keys[number] = string(e.New.Data)
			}
		case dir == s.root+"/tokens/":
			if id, _, err := decode(e.Old.Data); err == nil {
				delete(s.tokens, id)
			}
			if e.Kind == cache.Deleted {
				return
			}
			if id, token, err := decode(e.New.Data); err != nil {
				s.malformed++
			} else {
				s.tokens[id] = token
			}
		}
	}
}

// number takes the next number of a kind. A number is used once at most; some are lost with their answers.
func (s *TokenStore) number(ctx context.Context, kind string) (int, error) {
	for {
		data, stat, err := s.client.Get(ctx, s.root+"/numbers/"+kind)
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return 0, err
		}
		_, err = s.client.Set(ctx, s.root+"/numbers/"+kind, []byte(strconv.Itoa(n+1)), stat.Version)
		if !errors.Is(err, zk.ErrBadVersion) {
			return n + 1, err
		}
	}
}

func (s *TokenStore) keyPath(number int) string { return fmt.Sprintf("%s/keys/key_%d", s.root, number) }

func (s *TokenStore) tokenPath(id Identity) string {
	return fmt.Sprintf("%s/tokens/token_%d", s.root, id.Number)
}

func sign(id Identity, secret string) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "%d %d %s", id.Number, id.Key, id.Owner) // a hash does not fail
	return mac.Sum(nil)
}

type stored struct {
	Identity Identity
	Token    Token
}

func encode(id Identity, token Token) []byte {
	data, _ := json.Marshal(stored{id, token}) // strings, numbers and bytes: it does not fail
	return data
}

func decode(data []byte) (Identity, Token, error) {
	var s stored
	err := json.Unmarshal(data, &s)
	if err == nil && s.Identity.Number == 0 {
		err = errors.New("no token")
	}
	return s.Identity, s.Token, err
}
