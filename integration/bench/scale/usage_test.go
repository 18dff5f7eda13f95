package main

import "testing"

func TestHeapOfEveryCollector(t *testing.T) {
	for _, c := range []struct {
		text string
		want number
	}{
		{"12:\n garbage-first heap   total 65536K, used 2048K [0x1, 0x2)\n  region size 1024K, 3 young (3072K)\n" +
			" Metaspace       used 100K, committed 200K, reserved 1K\n", 2 << 20},
		{" def new generation   total 39296K, used 1024K [0x1, 0x2, 0x3)\n  eden space 34944K,  22% used [0x1)\n" +
			" tenured generation   total 87424K, used 3072K [0x1)\n", 4 << 20},
	} {
		if got := heapOf([]byte(c.text)); got != c.want {
			t.Errorf("got %v, want %v of %q", got, c.want, c.text)
		}
	}
	if got := heapOf([]byte("no such process")); got == got {
		t.Errorf("got %v of an answer without figures, want none", got)
	}
}
