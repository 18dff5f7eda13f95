package locks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/saslmd5"
	"github.com/gocurator/curator/framework/zktest"
	"github.com/gocurator/curator/recipes/internal/malformtest"
)

// Nodes that one user alone can read.
const (
	secretNode = "/secret"
	otherNode  = "/other"
)

// saslStory is a client that proves who it is by DIGEST-MD5.
func saslStory() *malformtest.Story {
	exchange := []string{malformtest.FrameSASL}
	// The server refuses the answer to another challenge than its own, and that is final for a new session.
	believed := func(m malformtest.Malformation) bool {
		return !slices.Contains([]string{"nonce is another", "realm is another", "behind the next one"}, m.Name)
	}
	return &malformtest.Story{
		Server: []zktest.Option{zktest.WithSASL(map[string]string{"bob": "secret"})},
		Client: []framework.Option{framework.WithSASL(saslmd5.New("bob", func(context.Context) (string, error) {
			return "secret", nil
		}))},
		Setup: func(r *malformtest.Run) {
			makeSecret(r, secretNode, zk.ACL{Perms: zk.PermAll, Scheme: "sasl", ID: "bob"})
		},
		Recover: readSecret,
		Parts: []malformtest.Part{
			{Name: "challenged", Early: true, Live: triesToRead, Kinds: exchange, Only: believed},
			{Name: "challenged again", Early: true, All: true, Live: triesToRead, Kinds: exchange, Only: believed},
			{Name: "getting the proof", Early: true, Skip: 1, Live: triesToRead, Kinds: exchange},
			{Name: "reconnecting", Live: reconnects, Kinds: exchange},
			{Name: "at an impostor", Early: true, All: true, Live: believesNone, Kinds: exchange, Only: isProof},
		},
	}
}

// authorizationStory is a client that says who it is when it connects, and adds another identity later.
func authorizationStory() *malformtest.Story {
	says := []string{malformtest.FrameAuth}
	return &malformtest.Story{
		Client: []framework.Option{framework.WithAuthorization("digest", []byte("bob:secret"))},
		Setup: func(r *malformtest.Run) {
			makeSecret(r, secretNode, zk.DigestACL(zk.PermAll, "bob", "secret")...)
			makeSecret(r, otherNode, zk.DigestACL(zk.PermAll, "eve", "secret")...)
		},
		Recover: func(ctx context.Context, r *malformtest.Run) error {
			if err := r.Client.AddAuth(ctx, "digest", []byte("eve:secret")); err != nil {
				return err
			}
			if _, _, err := r.Client.Get(ctx, otherNode); err != nil {
				return err
			}
			return readSecret(ctx, r)
		},
		Parts: []malformtest.Part{
			{Name: "connecting", Early: true, Live: triesToRead, Kinds: says},
			{Name: "reconnecting", Live: reconnects, Kinds: says},
			{Name: "adding", Live: addsAuth, Kinds: says},
			{Name: "adding for long", All: true, Live: addsAuth, Kinds: says},
		},
	}
}

func makeSecret(r *malformtest.Run, node string, acl ...zk.ACL) {
	if _, _, err := r.Honest.Create(r.T.Context(), node, nil, framework.WithACL(acl...)); err != nil {
		r.T.Fatal(err)
	}
}

func readSecret(ctx context.Context, r *malformtest.Run) error {
	_, _, err := r.Client.Get(ctx, secretNode)
	return err
}

func triesToRead(r *malformtest.Run) {
	_ = r.Bounded("Get", malformtest.SpoilTime, func(ctx context.Context) error { return readSecret(ctx, r) })
}

// reconnects has the client lose its connection while it holds a lock. It keeps the lock if it connects in time.
func reconnects(r *malformtest.Run) {
	lease := acquire(r.T, mutexOf(r.Client))
	r.Arm()
	r.Server.CutAll()
	time.Sleep(malformtest.SessionTimeout)
	triesToRead(r)
	giveBack(r, lease)
}

// isProof reports whether a malformation makes a server's proof wrong that it knows the password.
func isProof(m malformtest.Malformation) bool { return strings.HasPrefix(m.Name, "proof ") }

// believesNone has the client talk to a server that does not know the password.
func believesNone(r *malformtest.Run) {
	err := r.Bounded("Get", malformtest.SpoilTime/2, func(ctx context.Context) error { return readSecret(ctx, r) })
	if err == nil {
		r.Bad(malformtest.OutcomeFalse, "the client believes a server that has proved nothing")
	}
}

// addsAuth has the client add an identity. A success must be true.
func addsAuth(r *malformtest.Run) {
	r.Arm()
	err := r.Bounded("AddAuth", malformtest.SpoilTime, func(ctx context.Context) error {
		return r.Client.AddAuth(ctx, "digest", []byte("eve:secret"))
	})
	if err != nil {
		return
	}
	err = r.Bounded("Get", malformtest.SpoilTime, func(ctx context.Context) error {
		_, _, err := r.Client.Get(ctx, otherNode)
		return err
	})
	if errors.Is(err, zk.ErrNoAuth) {
		r.Bad(malformtest.OutcomeFalse, "the identity is added, but %v", err)
	}
}
