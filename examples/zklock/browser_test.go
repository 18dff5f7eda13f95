//go:build linux

package main_test

import (
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gocurator/curator/examples/internal/process"
	"github.com/gocurator/curator/framework/zktest"
)

// Colours of the page's style sheet: the bar over a contender that holds, and over one that waits.
var (
	held  = color.RGBA{0x2a, 0x9d, 0x4a, 0xff}
	waits = color.RGBA{0xc9, 0x8a, 0x00, 0xff}
)

// barsOf counts the rows of a screenshot in which a bar of each colour is, wider than letters are.
func barsOf(t *testing.T, file string) (rows map[color.RGBA]int) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		return nil // no picture was taken in that time
	}
	defer in.Close()
	picture, err := png.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	rows = map[color.RGBA]int{}
	for y := range picture.Bounds().Dy() {
		wide := map[color.RGBA]int{}
		for x := range picture.Bounds().Dx() {
			r, g, b, a := picture.At(x, y).RGBA()
			wide[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), uint8(a >> 8)}]++
		}
		for _, bar := range []color.RGBA{held, waits} {
			if wide[bar] > 100 {
				rows[bar]++
			}
		}
	}
	return rows
}

// The page in a real browser: a holder has a green bar, and one that waits an amber one, once the page has heard of
// them.
func TestOnARealBrowserTheQueueIsALane(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		lacking(t, err)
	}
	server := zktest.New(t)
	for _, who := range []string{"billing", "reports"} {
		r := start(t, server.Addr(), with([]string{"-data", who, "/locks/nightly"}, script("exec sleep 1000")...)...)
		if who == "billing" {
			r.await("started")
		} else {
			r.await("waiting")
		}
	}
	site := process.Start(t, program, "serve", "-listen", "127.0.0.1:0", "-zk", server.Addr())
	defer func() {
		site.Signal(syscall.SIGTERM)
		site.Wait()
	}()
	url := site.Await("http://")
	dir := t.TempDir()
	shot := filepath.Join(dir, "page.png")
	var rows map[color.RGBA]int
	// milliseconds until the picture is taken: a stream has no end
	for _, patience := range []string{"3000", "10000", "30000", "90000"} {
		began := time.Now()
		output, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+filepath.Join(dir, "profile"), "--timeout="+patience, "--window-size=1000,600", "--screenshot="+shot,
			url+"/#%2Flocks%2Fnightly").CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		rows = barsOf(t, shot)
		t.Logf("after %v: %d rows of the holder's bar, %d of the waiter's", time.Since(began).Round(time.Second), rows[held], rows[waits])
		if rows[held] > 0 && rows[waits] > 0 {
			return
		}
	}
	t.Error("the page shows no holder and waiter")
}
