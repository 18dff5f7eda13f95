package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/zklock/internal/contact"
	"github.com/gocurator/curator/examples/zklock/internal/fourletter"
	"github.com/gocurator/curator/examples/zklock/internal/survey"
)

// reported is what one server says of session 9, which was answered so long before the session that asks.
func reported(ago time.Duration) *contact.Report {
	return &contact.Report{Own: contact.Own{Session: 1, Timeout: time.Minute}, Answers: []contact.Answer{{
		Address: "zk1:2181", Dump: &fourletter.Error{Trouble: fourletter.NotAllowed},
		Connections: []fourletter.Connection{
			{Client: "10.0.0.1:1", Session: 1, Timeout: time.Minute, LastResponse: time.Hour},
			{Client: "10.0.0.7:5", Session: 9, Timeout: 40 * time.Second, LastResponse: time.Hour - ago},
		},
	}}}
}

func untold(trouble fourletter.Trouble, what string) *contact.Report {
	err := &fourletter.Error{Trouble: trouble, What: what}
	return &contact.Report{Answers: []contact.Answer{{Address: "zk1:2181", Cons: err, Dump: err}}}
}

func TestWhoTellsWhetherTheHolderLives(t *testing.T) {
	holder := contender(survey.Holds, "1", "billing")
	leads, kazoo, waiter, orphan := contender(survey.Leads, "1", "id"), holder, contender(survey.Waits, "2", "reports"), holder
	kazoo.By, orphan.Session = "kazoo", 0
	noClients := reported(0)
	noClients.Answers[0].Connections = nil
	for name, c := range map[string]struct {
		contender survey.Contender
		report    *contact.Report
		want      []string
	}{
		"alive":             {holder, reported(2 * time.Second), []string{"holds 0x9 from 10.0.0.7:5 at zk1:2181: heard 2s ago, it is alive; ask it to leave: zklock revoke /l"}},
		"a leader":          {leads, reported(2 * time.Second), []string{"it is alive; if it hangs, end its process in the ordinary way"}},
		"a holder of kazoo": {kazoo, reported(2 * time.Second), []string{"it is alive; if it hangs, end its process in the ordinary way"}},
		"silent": {holder, reported(25 * time.Second), []string{
			"not heard for 25s, it is paused, dead or cut off; its session ends in 15s by itself unless it is heard, so there is nothing to do but wait",
		}},
		"a waiter": {waiter, reported(1500 * time.Millisecond), []string{"waits 0x9 from 10.0.0.7:5 at zk1:2181: heard 1.5s ago, it is alive zk1:2181 does not allow dump"}},
		"away": {holder, noClients, []string{
			"connected to none of the servers asked (1): it is dead, cut off, or at a server that does not list its connections; its session ends within its timeout",
		}},
		"not found": {holder, &contact.Report{Failed: errors.New("no such host")}, []string{
			"Whether their clients live is not known. The servers were not asked: no such host",
		}},
		"not allowed": {holder, untold(fourletter.NotAllowed, ""), []string{
			"Whether their clients live is not known. zk1:2181 does not allow cons, zk1:2181 does not allow dump: in its zoo.cfg, " +
				"4lw.commands.whitelist=cons,dump,srvr,conf lets who see",
		}},
		"no answer": {holder, untold(fourletter.Silent, "it is silent for 2s"), []string{
			"Whether their clients live is not known. zk1:2181 does not answer cons: it is silent for 2s",
		}},
		"an orphan": {orphan, reported(0), []string{
			"1 (billing) is no ephemeral node: it belongs to no session, and stays whatever becomes of its owner; " +
				"if nothing uses it, remove it by hand: zkCli.sh delete /l/1",
		}},
	} {
		lock := &survey.Lock{Path: "/l", Kind: "mutex", Contenders: []survey.Contender{c.contender}}
		text := clientsText(lock, c.report)
		for _, want := range c.want {
			if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q in it", name, got, want)
			}
		}
		for line := range strings.Lines(text) {
			if wide := len([]rune(strings.TrimRight(line, "\n"))); wide > 80 {
				t.Errorf("%s: %d columns: %s", name, wide, line)
			}
		}
	}
}

func TestForemostAreTheHoldersAndTheFirstThatWait(t *testing.T) {
	lock := &survey.Lock{}
	for i := range 20 {
		c := contender(survey.Holds, fmt.Sprint(i), "who")
		if c.Session = int64(i / 2); i >= 4 { // two nodes of each session, and the first is no session's
			c.State = survey.Waits
		}
		lock.Contenders = append(lock.Contenders, c)
	}
	var got []string
	for _, c := range foremost(lock) {
		got = append(got, c.State+" "+c.Node)
	}
	if got, want := strings.Join(got, ", "), "holds 2, waits 4, waits 6, waits 8"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhoIsNotCutInAPipe(t *testing.T) {
	who := strings.TrimSpace(strings.Repeat("who ", 100))
	lock := &survey.Lock{Path: "/l", Kind: "mutex", Contenders: []survey.Contender{contender(survey.Holds, "1", who)}}
	rows := []row{{Path: "/l", Kind: "mutex", Holding: 1, Who: who}}
	for width, whole := range map[int]bool{0: true, 80: false, 200: false, 500: true} {
		for name, table := range map[string]string{"who": whoTable(lock, noon, false, width), "ls": lsTable("/", rows, width)} {
			if got := strings.Contains(table, who+"\n"); got != whole {
				t.Errorf("%s in %d columns: WHO is whole: %t, want %t:\n%s", name, width, got, whole, table)
			}
			for line := range strings.Lines(table) {
				if wide := len([]rune(strings.TrimRight(line, "\n"))); width > 0 && wide > width {
					t.Errorf("%s: got %d columns, want at most %d", name, wide, width)
				}
			}
		}
	}
}

func TestWhoShowsAnOrphanWithoutASession(t *testing.T) {
	orphan := contender(survey.Holds, "1", "billing")
	orphan.Session = 0
	lock := &survey.Lock{Path: "/l", Kind: "mutex", Contenders: []survey.Contender{orphan}}
	if table := whoTable(lock, noon, false, 0); !strings.Contains(table, "none ") || strings.Contains(table, "0x0") {
		t.Errorf("got no session none in\n%s", table)
	}
	text, err := json.Marshal(whoJSON(lock, nil))
	if err != nil || !strings.Contains(string(text), `"ephemeral":false`) {
		t.Errorf("got %s, %v, want that its node is not ephemeral", text, err)
	}
}
