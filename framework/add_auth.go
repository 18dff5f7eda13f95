package framework

import (
	"context"
	"errors"

	"github.com/gocurator/curator/framework/internal/live"
)

// AddAuth says who the client is, in addition to [WithAuthorization]: on the present connection and, once a server has
// accepted it, on all later ones. It blocks until a server has answered, and tries again as all operations do.
//
// A refusal fails this call alone, with [ErrAuthRefused]: the server closes the connection, the client reconnects
// without what was refused, and session and leases go on, unless [StandardErrorPolicy] ends the leases. After any other
// error the server may have accepted it. A refusal on a later connection ends the client, as of [WithAuthorization].
//
// Errors: an [*OpError] whose Path is the scheme; [ErrAuthRefused] and those of all operations.
//
// Curator: CuratorFramework.getZookeeperClient().getZooKeeper().addAuthInfo().
func (c *Client) AddAuth(ctx context.Context, scheme string, credentials []byte) error {
	if problem := authProblem(scheme, credentials); problem != nil {
		return &OpError{Op: opAddAuth, Path: scheme, Err: problem}
	}
	err := c.do(ctx, opAddAuth, "/", func(ctx context.Context, s *live.Session, _ string, _ bool) error {
		return s.AddAuth(ctx, scheme, credentials)
	})
	var failed *OpError
	if errors.As(err, &failed) {
		failed.Path = scheme
	}
	return err
}

// authProblem is what is wrong before a server has judged. Other schemes may do without credentials.
func authProblem(scheme string, credentials []byte) error {
	switch {
	case scheme == "":
		return errors.New("authorization scheme is empty")
	case scheme == "digest" && len(credentials) == 0:
		return errors.New(`credentials of scheme "digest" are empty, they are "user:password"`)
	}
	return nil
}

const opAddAuth = "add authorization"
