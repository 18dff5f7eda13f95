package main

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gocurator/curator/framework"
	"github.com/gocurator/curator/framework/zktest"
)

// at is an event so many seconds after the beginning.
func at(begun time.Time, seconds float64, e event) event {
	e.at = begun.Add(time.Duration(seconds * float64(time.Second)))
	return e
}

func TestBoardShowsWhoHoldsAndWhoWaits(t *testing.T) {
	begun := time.Now()
	b := newBoard("3 workers contend", begun, 3)
	for _, e := range []event{
		at(begun, 0, event{Worker: 3, Event: acquired}),
		at(begun, 0.1, event{Worker: 1, Event: waiting}),
		at(begun, 0.2, event{Worker: 3, Event: released}),
		at(begun, 0.2, event{Worker: 1, Event: acquired}),
		at(begun, 0.3, event{Worker: 1, Event: state, state: framework.StateSuspended, text: "SUSPENDED"}),
		at(begun, 0.4, event{Worker: 1, Event: lost, Node: "_c_x-lock-0000000001", text: "LOST after 200ms"}),
	} {
		b.show(e)
	}
	got := strings.Join(b.lines(false), "\n")
	want := `3 workers contend

   1 LOST       ··██▒▒✗
   2` + "          " + `
   3          █████    
              0 s   0.4 s
· waits   ~ not connected   █ holds   ▒ holds, not connected   ✗ LOST
0 wait
  0.300 worker 1: SUSPENDED
  0.400 worker 1 at lock-0000000001: LOST after 200ms
`
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	if squeeze(got) != squeeze(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestBoardFitsATerminalWhateverHappens(t *testing.T) {
	begun := time.Now()
	b := newBoard(strings.Repeat("long ", 40), begun, 50)
	for i := range 2000 {
		worker := i%50 + 1
		b.show(at(begun, float64(i)/10, event{Worker: worker, Event: acquired}))
		b.show(at(begun, float64(i)/10, event{Worker: worker, Event: note, text: strings.Repeat("news ", 40)}))
		b.show(at(begun, float64(i)/10+0.1, event{Worker: worker, Event: released}))
		lines := b.lines(false)
		if len(lines) > 24 {
			t.Fatalf("got %d lines, want at most 24", len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > 79 {
				t.Fatalf("got %d columns, want at most 79: %q", n, line)
			}
		}
	}
	if coloured := strings.Join(b.lines(true), ""); !strings.Contains(coloured, holds.Colour()) {
		t.Errorf("got no colours in %q", coloured)
	}
}

func TestServersThatAreGoneAreWaitedFor(t *testing.T) {
	begun := time.Now()
	b := newBoard("", begun, 2)
	b.show(at(begun, 1, event{Event: servers, State: "gone", text: "waiting for the servers"}))
	if got := b.lines(false); !strings.Contains(strings.Join(got, "\n"), "waiting for the servers") {
		t.Errorf("got %q, want a word about the servers", got)
	}
	b.show(at(begun, 2, event{Event: servers, State: "back", text: "the servers answer again"}))
	if got := b.summary(); got != "0 wait" {
		t.Errorf("got %q, want 0 wait", got)
	}
}

func TestScreenIsRedrawnInPlace(t *testing.T) {
	zktest.Bubble(t, func(t *testing.T) {
		var out bytes.Buffer
		s := newScreen(&out, newBoard("two workers", time.Now(), 2))
		s.show(event{at: time.Now(), Worker: 1, Event: acquired})
		time.Sleep(time.Second)
		s.close()
		text := out.String()
		up := "\x1b[10A" // 2 of title, 2 workers, axis, legend, summary, 3 messages
		if got := strings.Count(text, up); got < 9 || got > 11 {
			t.Errorf("got %d times %q in a second, want ten", got, up)
		}
		if !strings.HasPrefix(text, "\x1b[?25l") || !strings.HasSuffix(text, "\x1b[?25h\n") {
			t.Errorf("got %q, want the cursor hidden and shown again", text)
		}
	})
}

// A block is what a picture shows of a worker that holds, or has lost the lock.
type block struct {
	from, to float64
	colour   string
}

// blocks returns a picture's blocks, from left to right.
func blocks(t *testing.T, file string) []block {
	t.Helper()
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []block
	rectangle := regexp.MustCompile(`<rect x="([\d.]+)" y="\d+" width="([\d.]+)" height="14" fill="(#\w+)"`)
	for _, rect := range rectangle.FindAllSubmatch(picture, -1) {
		from, err := strconv.ParseFloat(string(rect[1]), 64)
		width, err2 := strconv.ParseFloat(string(rect[2]), 64)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		found = append(found, block{from, from + width, string(rect[3])})
	}
	slices.SortFunc(found, func(a, b block) int { return cmp.Compare(a.from, b.from) })
	return found
}

func holding(b block) bool { return b.colour == paint[holds] || b.colour == paint[unsure] }

func TestPictureShowsNoTwoHoldersAtOneTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "picture.svg")
	inBubble(t, 0, "-crash=3", "-session=1s", "-hold=33ms", "-picture", file)
	for _, picture := range []string{file, "contention.svg"} {
		var held []block
		for _, b := range blocks(t, picture) {
			if holding(b) {
				held = append(held, b)
			}
		}
		if len(held) != 11 { // a hold for each worker, and that of the third is of two colours
			t.Errorf("%s: got %d blocks of holders, want 11", picture, len(held))
		}
		for i := 1; i < len(held); i++ {
			if a, b := held[i-1], held[i]; b.from < a.to-0.11 { // what is rounded to a tenth
				t.Errorf("%s: got holders from %.1f to %.1f and from %.1f, want one at a time", picture, a.from, a.to, b.from)
			}
		}
	}
}

// The README says so of its picture. Worker 3 may come last in a run: then it has to be made again.
func TestPictureOfREADMEShowsTheNextHolderAfterTheLoss(t *testing.T) {
	all := blocks(t, "contention.svg")
	loss := slices.IndexFunc(all, func(b block) bool { return b.colour == paint[gone] })
	if loss < 0 || !slices.ContainsFunc(all[loss:], holding) {
		t.Errorf("got blocks %v, want a holder after a loss", all)
	}
}

func TestPictureIsWellFormed(t *testing.T) {
	begun := time.Now()
	b := newBoard("workers & <locks>", begun, 3)
	b.exact = true
	b.show(at(begun, 0, event{Worker: 2, Event: acquired}))
	b.show(at(begun, 1, event{Worker: 2, Event: lost, text: "LOST"}))
	picture := b.svg()
	for _, want := range []string{paint[holds], paint[gone], "workers &amp; &lt;locks&gt;", "LOST"} {
		if !strings.Contains(picture, want) {
			t.Errorf("got no %q in %s", want, picture)
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(picture))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
