package commands

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"

	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

const lsHelp = `zklock ls [flags] [PATH]

Lists the locks at and below a path, / if there is none, with what holds them
and how many wait. It reads each directory below, and each lock's nodes.

Examples:

  zklock ls -zk zk1:2181
  zklock ls /locks -busy        # only those that are held or waited for
` + statuses

func newLs(set *flag.FlagSet) *looker {
	busy := set.Bool("busy", false, "leave out locks that are free")
	return &looker{paths: [2]int{0, 1}, do: func(ctx context.Context, s *scene) error {
		root := "/"
		if len(s.paths) > 0 {
			root = s.paths[0]
		}
		rows, err := list(ctx, s, root, *busy)
		if err != nil {
			return err
		}
		if s.json {
			return s.printJSON(rows)
		}
		return s.print(lsTable(root, rows, columns(s.out)))
	}}
}

// A row is a lock in a list.
type row struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Holding int    `json:"holding"`
	Waiting int    `json:"waiting"`
	Who     string `json:"who,omitempty"` // the first holder
	Refused bool   `json:"refused,omitempty"`
}

func list(ctx context.Context, s *scene, root string, busy bool) ([]row, error) {
	found, err := survey.Walk(ctx, s.client, root)
	if err != nil {
		return nil, err
	}
	rows := make([]row, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i, f := range found {
		rows[i] = row{Path: f.Path, Kind: f.Kind, Refused: f.Refused}
		if f.Refused {
			continue
		}
		group.Go(func() error {
			lock, err := survey.Read(ctx, s.client, f.Path)
			// it has gone, or its nodes may not be read
			if errors.Is(err, survey.ErrNoLock) || errors.Is(err, zk.ErrNoAuth) {
				rows[i].Refused = errors.Is(err, zk.ErrNoAuth)
				return nil
			}
			if err != nil {
				return err
			}
			in := lock.Holders()
			rows[i].Holding, rows[i].Waiting = len(in), lock.Waiting()
			if len(in) > 0 {
				rows[i].Who = in[0].Who
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	kept := rows[:0]
	for _, r := range rows {
		if !busy || r.Holding+r.Waiting > 0 {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

// lsTable is at most width columns wide, unless a path is longer; 0 is no limit.
func lsTable(root string, rows []row, width int) string {
	if len(rows) == 0 {
		return "no locks at or below " + root + "\n"
	}
	wide := 4
	for _, r := range rows {
		wide = max(wide, len([]rune(r.Path)))
	}
	var out strings.Builder
	line := func(path, kind, holding, waiting, who string) {
		text := fmt.Sprintf("%-*s  %-10s %5s %6s  ", wide, survey.Printable(path), kind, holding, waiting)
		out.WriteString(strings.TrimRight(text+survey.Cut(who, room(width, len([]rune(text)))), " ") + "\n")
	}
	line("LOCK", "KIND", "HOLD", "WAIT", "HELD BY")
	for _, r := range rows {
		if r.Refused {
			line(r.Path, r.Kind, "?", "?", "(no permission to read)")
			continue
		}
		line(r.Path, r.Kind, fmt.Sprint(r.Holding), fmt.Sprint(r.Waiting), r.Who)
	}
	return out.String()
}
