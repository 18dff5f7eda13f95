//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package run

import "time"

// check is for a keeper that does not do its work, since it was stopped or is starved: the front then ends everything
// itself.
func (f *front) check() {
	f.setAlarm()
	late := f.plan.overdue(now(), f.valid)
	// after a stop of this process the keeper's reports wait to be read
	for late && !f.gone && !f.sweep && f.reports != nil {
		select {
		case r, open := <-f.reports:
			f.heard(r, open)
			continue
		case <-time.After(f.plan.margin / 8):
		}
		break
	}
	if late && !f.gone && !f.sweep {
		f.sweep, f.lost = true, f.lost || !f.exited
		spare := milliseconds(f.valid - now())
		f.sweepUp()
		f.tellKilled(Event{Spare: spare, text: "the keeper has not ended the command in time: killing both"})
		return
	}
	if f.sweep {
		f.sweepUp()
	}
}

// setAlarm has this process, should it be stopped, go on when it has to look at the keeper.
func (f *front) setAlarm() { f.alarm.set(f.plan.wake(f.valid-f.plan.margin/2, now())) }
