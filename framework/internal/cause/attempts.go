package cause

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gocurator/curator/framework/session"
)

// attempts counts the failed attempts to connect to each server, by how they failed.
type attempts [servers + 1][codes]int

func (a *attempts) add(e Event) {
	if e.Code < codes {
		a[e.Server%(servers+1)][e.Code] += int(e.N)
	}
}

// most is how most attempts at a server failed.
func (a *attempts) most(server int) (code Code, tried bool) {
	most := 0
	for c, n := range a[server] {
		if n > most {
			code, most = Code(c), n
		}
	}
	return code, most > 0
}

// mute reports whether a server but this one took connections and did not answer, and no attempt failed otherwise.
func (a *attempts) mute(server uint8) bool {
	others := false
	for i := range a {
		for code, n := range a[i] {
			switch {
			case n > 0 && Code(code) != Silent:
				return false
			case n > 0 && i != int(server):
				others = true
			}
		}
	}
	return others
}

// any reports whether an attempt failed so.
func (a *attempts) any(code Code) bool {
	for i := range a {
		if a[i][code] > 0 {
			return true
		}
	}
	return false
}

// verdict says what kept the client without a connection. Servers that it reached say more than those that it did not:
// a server that crashes leaves the others without a leader. silent is the server of the connection before, if it had
// fallen silent.
func (a *attempts) verdict(r *Record, silent string, span int64) (session.LossKind, string) {
	var hungUp, mute, away []string
	for i := range a {
		name := r.Servers[i]
		switch code, tried := a.most(i); {
		case !tried:
		case code == HungUp:
			hungUp = append(hungUp, name)
		case code == Silent:
			mute = append(mute, name)
		default:
			away = append(away, fmt.Sprintf("%s (%v)", name, code))
		}
	}
	slices.Sort(hungUp)
	slices.Sort(mute)
	slices.Sort(away)
	var also string
	if len(away) > 0 {
		also = "; not reached: " + strings.Join(away, ", ")
	}
	lasted := about(span)
	switch {
	case len(hungUp) > 0 && len(mute) == 0:
		return session.LossNotServing, fmt.Sprintf("each server that was reached hung up on the handshake for %s, as servers without a leader do: %s%s",
			lasted, strings.Join(hungUp, ", "), also)
	case len(hungUp) > 0:
		return session.LossUnknown, fmt.Sprintf("servers hung up on the handshake (%s) or answered nothing (%s) for %s%s",
			strings.Join(hungUp, ", "), strings.Join(mute, ", "), lasted, also)
	case len(mute) > 0:
		return session.LossNotAnswered, fmt.Sprintf("servers took connections and answered nothing for %s: %s%s",
			lasted, strings.Join(mute, ", "), also)
	case len(away) > 0 && silent != "":
		return session.LossNotReached, fmt.Sprintf("%s stopped answering %s before, and no server was reached: %s",
			silent, lasted, strings.Join(away, ", "))
	case len(away) > 0:
		return session.LossNotReached, fmt.Sprintf("no server was reached for %s: %s", lasted, strings.Join(away, ", "))
	}
	return session.LossUnknown, fmt.Sprintf("the connection was lost %s before, and no attempt to connect had an outcome", lasted)
}
