//go:build linux

package run

import "testing"

func TestOnlyCapKillMakesAllProcessesEndable(t *testing.T) {
	for effective, want := range map[uint32]bool{0: false, 0xffffffff: true, 0xffffffff &^ (1 << 5): false, 1 << 5: true} {
		if got := mayEndOthers(effective); got != want {
			t.Errorf("capabilities %#x: got %v, want %v", effective, got, want)
		}
	}
}
