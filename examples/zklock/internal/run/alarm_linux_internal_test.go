//go:build linux

package run

import (
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	realtime "github.com/gocurator/curator/framework/zktest/await"
)

func TestAlarmContinuesTheProcessAtItsTime(t *testing.T) {
	came := make(chan os.Signal, 8)
	signal.Notify(came, syscall.SIGCONT)
	defer signal.Stop(came)
	a := newAlarm()
	a.set(now() + time.Hour) // moved on before it comes
	at := now() + 20*time.Millisecond
	a.set(at)
	realtime.Receive(t, 10*time.Second, "SIGCONT", came)
	if early := at - now(); early > 0 {
		t.Errorf("SIGCONT came %v early", early)
	}
	a.set(now() - time.Hour) // a time that has passed is now
	realtime.Receive(t, 10*time.Second, "SIGCONT", came)
}
