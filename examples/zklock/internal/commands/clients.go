package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/contact"
	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/examples/zklock/internal/manual"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// contact asks the servers about the clients of all contenders. It returns nil if there are none, or limit is 0. That
// the servers cannot be found is part of the report, since the lock has been read.
func (s *scene) contact(ctx context.Context, lock *survey.Lock, limit time.Duration) (*contact.Report, error) {
	var wanted []int64
	for _, c := range lock.Contenders {
		if c.Session != 0 {
			wanted = append(wanted, c.Session)
		}
	}
	if len(wanted) == 0 || limit <= 0 {
		return nil, nil
	}
	session, err := s.client.Session(ctx)
	if err != nil {
		return nil, err
	}
	asked, failed := s.servers.Each(ctx, limit)
	report := contact.Ask(ctx, asked, contact.Own{Session: session.ID(), Timeout: session.Timeout()}, wanted, limit)
	report.Failed = failed
	return report, nil
}

// The most holders and waiters that the text describes; JSON has all.
const (
	mostHolders = 8
	mostWaiters = 3
)

// foremost are the contenders that a wait depends on: the holders, and the first of those that wait. Of several with
// one session it is the first.
func foremost(lock *survey.Lock) (all []survey.Contender) {
	holders, waiters, seen := 0, 0, map[int64]bool{0: true}
	for _, c := range lock.Contenders {
		if seen[c.Session] || c.In() && holders == mostHolders || !c.In() && waiters == mostWaiters {
			continue
		}
		seen[c.Session] = true
		if c.In() {
			holders++
		} else {
			waiters++
		}
		all = append(all, c)
	}
	return all
}

// clientsText describes the foremost contenders' clients, nodes that belong to no client, and servers that did not
// answer. report may be nil.
func clientsText(lock *survey.Lock, report *contact.Report) string {
	var out strings.Builder
	paragraph := func(text string) {
		for i, line := range manual.Wrap(survey.Printable(text), 78) {
			out.WriteString(strings.Repeat(" ", 2*min(i, 1)) + line + "\n")
		}
	}
	for _, c := range lock.Contenders {
		if c.Session == 0 {
			paragraph(fmt.Sprintf("%s (%s) is no ephemeral node: it belongs to no session, and stays whatever becomes of its owner; "+
				"if nothing uses it, remove it by hand: zkCli.sh delete %s", c.Node, c.Who, c.Path))
		}
	}
	if report != nil {
		unknown := 0
		for _, c := range foremost(lock) {
			client := report.Client(c.Session)
			if client.State == contact.Unknown {
				unknown++
				continue
			}
			paragraph(c.State + " " + sessionText(c.Session) + clientText(client, len(report.Answers)) + advice(client, c, lock.Path))
		}
		for _, text := range silenceTexts(report, unknown > 0) {
			paragraph(text)
		}
	}
	if out.Len() > 0 {
		return "\n" + out.String()
	}
	return ""
}

// clientText says what is known of a client.
func clientText(c contact.Client, servers int) string {
	var out strings.Builder
	if c.Address != "" {
		fmt.Fprintf(&out, " from %s at %s", c.Address, c.Server)
	}
	about := ""
	if c.About {
		about = "about "
	}
	switch c.State {
	case contact.Alive:
		fmt.Fprintf(&out, ": heard %s%s ago, it is alive", about, seconds(c.Heard))
	case contact.Silent:
		fmt.Fprintf(&out, ": not heard for %s%s, it is paused, dead or cut off", about, seconds(c.Heard))
	case contact.Connected:
		out.WriteString(": it is connected, and when it was heard is not known")
	case contact.Away:
		fmt.Fprintf(&out, ": connected to none of the servers asked (%d)", servers)
		if c.Heard >= 0 {
			fmt.Fprintf(&out, ", heard %s%s ago", about, seconds(c.Heard))
		}
		out.WriteString(": it is dead, cut off, or at a server that does not list its connections")
	case contact.Ended:
		out.WriteString(": its session has ended")
	}
	return out.String()
}

// advice says what to do about a contender with such a client.
func advice(client contact.Client, c survey.Contender, path string) string {
	switch client.State {
	case contact.Silent, contact.Away:
		return "; its session ends " + when(client) + " by itself unless it is heard, so there is nothing to do but wait"
	case contact.Ended:
		return ", and its nodes are being removed: look again"
	}
	switch {
	case !c.In():
		return ""
	case c.State == survey.Leads, c.By != "curator" && c.By != "":
		return "; if it hangs, end its process in the ordinary way"
	default:
		return "; ask it to leave: zklock revoke " + path
	}
}

// seconds prints a short duration, without an empty fraction.
func seconds(d time.Duration) string { return strings.Replace(short(d), ".0s", "s", 1) }

// when is the end of a session.
func when(c contact.Client) string {
	switch {
	case c.Left >= 0 && c.About:
		return "in about " + seconds(c.Left)
	case c.Left >= 0:
		return "in " + seconds(c.Left)
	case c.Timeout > 0:
		return "within " + seconds(c.Timeout)
	default:
		return "within its timeout"
	}
}

// silenceTexts name the servers that did not answer what was needed, and say how to make them answer. unknown is set if
// nothing is known of a client.
func silenceTexts(r *contact.Report, unknown bool) (texts []string) {
	if r.Failed != nil {
		texts = append(texts, fmt.Sprintf("The servers were not asked: %v", r.Failed))
	}
	var forbidden []string
	for _, a := range r.Answers {
		for command, err := range map[string]error{"cons": a.Cons, "dump": a.Dump} {
			switch {
			case err == nil, fourletter.TroubleOf(err) == fourletter.NotAsked:
			case fourletter.TroubleOf(err) == fourletter.NotAllowed:
				forbidden = append(forbidden, fmt.Sprintf("%s does not allow %s", a.Address, command))
			case command == "cons" || a.Cons == nil:
				texts = append(texts, fmt.Sprintf("%s does not answer %s: %v", a.Address, command, err))
			}
		}
	}
	if len(forbidden) > 0 {
		slices.Sort(forbidden)
		texts = append(texts, strings.Join(forbidden, ", ")+": in its zoo.cfg, "+fourletter.Whitelist("cons", "dump", "srvr", "conf")+
			" lets who see whether clients live")
	}
	if unknown && len(texts) > 0 {
		texts[0] = "Whether their clients live is not known. " + texts[0]
	}
	return texts
}
