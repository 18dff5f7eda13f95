package transport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/framework/zktest"
)

func TestEveryHostIsLookedUpAtEachAttempt(t *testing.T) {
	answers := map[string][]string{}
	var asked []string
	r := NewRoute(func(context.Context) []string { return []string{"zk:2181", "10.0.0.9:2182", "[fd::9]:2183"} }, func(_ context.Context, host string) ([]string, error) {
		asked = append(asked, host)
		if ips, ok := answers[host]; ok {
			return ips, nil
		}
		return nil, errors.New("no such host")
	})
	for _, c := range []struct {
		zk      []string // nil: the look-up fails
		want    string
		problem string
	}{
		{nil, "10.0.0.9:2182 [fd::9]:2183", "no such host"},
		{[]string{"10.0.0.1", "10.0.0.2"}, "10.0.0.1:2181 10.0.0.2:2181 10.0.0.9:2182 [fd::9]:2183", ""},
		{[]string{"10.0.0.3", "fd::3"}, "10.0.0.3:2181 [fd::3]:2181* 10.0.0.9:2182 [fd::9]:2183", ""},
		{[]string{"fd::3", "10.0.0.3"}, "[fd::3]:2181 10.0.0.3:2181* 10.0.0.9:2182 [fd::9]:2183", ""},
		{[]string{"10.0.0.3", "10.0.0.3", "10.0.0.4"}, "10.0.0.3:2181 10.0.0.4:2181 10.0.0.9:2182 [fd::9]:2183", ""},
		{nil, "10.0.0.3:2181 10.0.0.4:2181 10.0.0.9:2182 [fd::9]:2183", "no such host"}, // as it was
		{[]string{}, "10.0.0.3:2181 10.0.0.4:2181 10.0.0.9:2182 [fd::9]:2183", "no addresses"},
		{[]string{"elsewhere"}, "10.0.0.3:2181 10.0.0.4:2181 10.0.0.9:2182 [fd::9]:2183", `"elsewhere" is not an IP address`},
	} {
		delete(answers, "zk")
		if c.zk != nil {
			answers["zk"] = c.zk
		}
		all, problems, _ := r.addresses(t.Context())
		var got []string
		for _, a := range all {
			got = append(got, a.Dial+strings.Repeat("*", a.rank))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%q: dials %s, want %s", c.zk, got, c.want)
		}
		if problem := problems["zk:2181"]; (problem == nil) != (c.problem == "") || !strings.Contains(fmt.Sprint(problem), c.problem) {
			t.Errorf("%q: problem %v, want %q", c.zk, problem, c.problem)
		}
	}
	if len(asked) != 8 || slices.Contains(asked, "10.0.0.9") {
		t.Errorf("looked up %q", asked)
	}
}

// Limits grow with a list that is cut off, as with a look-up.
func TestAListThatDoesNotComeHasHalfOfTheTime(t *testing.T) {
	for name, slow := range map[string]bool{"in time": false, "cut off": true} {
		zktest.Bubble(t, func(t *testing.T) {
			var at time.Time
			r := NewRoute(func(ctx context.Context) []string {
				if slow {
					<-ctx.Done()
				}
				return []string{"zk:2181"}
			}, func(context.Context, string) ([]string, error) {
				at = time.Now()
				return []string{"10.0.0.1"}, nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			all, _, cut := r.addresses(ctx)
			var want time.Duration
			if slow {
				want = 5 * time.Second
			}
			if got := at.Sub(began); len(all) != 1 || got != want || cut != slow {
				t.Errorf("%s: got %v, with the host looked up after %v, cut %t; want one address, %v and %t", name, all, got, cut, want, slow)
			}
		})
	}
}

func TestWithoutALookupServersAreDialedByName(t *testing.T) {
	r := NewRoute(func(context.Context) []string { return []string{"zk:2181"} }, nil)
	if a, _, ok := r.next(t.Context()); !ok || a.Dial != "zk:2181" {
		t.Errorf("dials %+v, %t", a, ok)
	}
}
