package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/doctor"
	"github.com/gocurator/curator/examples/zklock/internal/run"
)

// explained adds to the error that no server was reached what each of them says, in one clear line for each.
func (l *looker) explained(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || run.ExitCode(err) != run.ExitUnreachable {
		return err
	}
	const limit = 2 * time.Second
	asked, failed := l.servers.Each(ctx, limit)
	if failed != nil {
		return err
	}
	outages := doctor.Outages(ctx, asked, limit)
	if len(outages) == 0 {
		return err
	}
	return &unreachableError{l.servers.ConnectTimeout, outages, err}
}

// An unreachableError says why no server was reached.
type unreachableError struct {
	limit   time.Duration
	outages []doctor.Finding
	error
}

func (e *unreachableError) Unwrap() error { return e.error }

func (e *unreachableError) Error() string {
	var out strings.Builder
	fmt.Fprintf(&out, "no server could be used within %v", e.limit)
	for _, f := range e.outages {
		fmt.Fprintf(&out, "; %s: %s", f.About, f.What)
	}
	return out.String() + "; zklock doctor says what to look at"
}
