//go:build linux

package run

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// A keeper that is stopped between the start of its command and its next look would stay so: it goes on by an alarm
// alone.
func TestKeeperSetsItsAlarmBeforeItStartsTheCommand(t *testing.T) {
	var told bytes.Buffer
	k := &keeper{out: json.NewEncoder(&told), alarm: newAlarm(), now: now}
	k.obey(order{Valid: now() + time.Hour})
	if k.obey(order{Start: &command{Path: "/gone", Grace: time.Minute, Margin: time.Minute}}) {
		t.Fatal("got a command started, want none: the test needs to see what was done before the start")
	}
	if due := k.s.valid - 2*time.Minute; k.alarm.at != due {
		t.Errorf("got the alarm at %v when the command was to be started, want it at %v", k.alarm.at, due)
	}
}

// The machine was suspended, or the keeper stopped, between the grant and the start.
func TestCommandIsNotStartedWhenItWouldHaveToBeKilledAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		left time.Duration // from the start to the end of the lease
		late bool
	}{"within the margin": {time.Minute, true}, "before it": {2 * time.Minute, false}} {
		var told bytes.Buffer
		k := &keeper{out: json.NewEncoder(&told), now: func() time.Duration { return time.Hour }}
		k.s.valid = k.now() + c.left
		k.start(&command{Path: "/gone", Margin: time.Minute})
		var r report
		if err := json.Unmarshal(told.Bytes(), &r); err != nil || r.Late != c.late || r.Failed == "" {
			t.Errorf("%s: got the report %+v, %v, want a failure, too late: %v", name, r, err, c.late)
		}
	}
}
