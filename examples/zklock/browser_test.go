//go:build linux

package main_test

import (
	"image"
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
	"github.com/gocurator/curator/framework/zktest/await"
)

// Colours of the page's style sheet: the bar over a contender that holds, and over one that waits.
var (
	held  = color.RGBA{0x2a, 0x9d, 0x4a, 0xff}
	waits = color.RGBA{0xc9, 0x8a, 0x00, 0xff}
)

// bars counts the rows of a picture in which a bar of each colour is, wider than letters are.
func bars(picture image.Image) (rows map[color.RGBA]int) {
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

// green counts the pixels of a picture that are more green than anything else, such as those of a thin line of a
// holder's colour.
func green(picture image.Image) (n int) {
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, g, b, _ := picture.At(x, y).RGBA()
			if least := uint32(40 << 8); g > r+least && g > b+least {
				n++
			}
		}
	}
	return n
}

// browse has a real browser show a page, for longer and longer, until a screenshot shows what it must.
func browse(t *testing.T, url string, shows func(picture image.Image) bool) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		lacking(t, err)
	}
	dir := t.TempDir()
	shot := filepath.Join(dir, "page.png")
	// milliseconds until the picture is taken: a stream has no end
	for _, patience := range []string{"3000", "10000", "30000", "90000"} {
		began := time.Now()
		output, err := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu",
			"--user-data-dir="+filepath.Join(dir, "profile"), "--timeout="+patience, "--window-size=1000,600", "--screenshot="+shot,
			url).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		t.Logf("after %v", time.Since(began).Round(time.Second))
		if picture := pictureIn(t, shot); picture != nil && shows(picture) {
			return
		}
	}
	await.Errorf(t, "%s to show what it must", url)
}

// pictureIn returns nil if no picture was taken in that time.
func pictureIn(t *testing.T, file string) image.Image {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer in.Close()
	picture, err := png.Decode(in)
	if err != nil {
		t.Fatal(err)
	}
	return picture
}

// The pages in a real browser, once they have heard of a lock. In its queue the holder has a green bar, and a waiter an
// amber one. The overview draws a line for what happened to it in the last minute.
func TestOnARealBrowser(t *testing.T) {
	if os.Getenv("CURATOR_INTEGRATION") == "" {
		t.Skip("CURATOR_INTEGRATION is not set")
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

	t.Run("the queue is a lane", func(t *testing.T) {
		browse(t, url+"/#%2Flocks%2Fnightly", func(picture image.Image) bool {
			rows := bars(picture)
			t.Logf("%d rows of the holder's bar, %d of the waiter's", rows[held], rows[waits])
			return rows[held] > 0 && rows[waits] > 0
		})
	})
	t.Run("the overview has a sparkline", func(t *testing.T) {
		browse(t, url+"/", func(picture image.Image) bool {
			n := green(picture)
			t.Logf("%d green pixels", n)
			return n >= 5 && len(bars(picture)) == 0
		})
	})
}
