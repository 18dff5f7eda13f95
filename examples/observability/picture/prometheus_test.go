package picture_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// tool is a program of Prometheus, from PATH or as integration/run fetches it.
func tool(t *testing.T, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	fetched := "../../../integration/.cache/promtool/usr/bin/" + name
	if _, err := os.Stat(fetched); err != nil {
		if os.Getenv("CURATOR_INTEGRATION") == "required" {
			t.Fatalf("there is no %s: %v", name, err)
		}
		t.Skipf("there is no %s: %v", name, err)
	}
	return fetched
}

// serve imports what was scraped, and starts Prometheus on it. The address is http://127.0.0.1 with a port.
func serve(t *testing.T, scraped string) (address string) {
	t.Helper()
	dir := t.TempDir()
	samples, config := filepath.Join(dir, "samples"), filepath.Join(dir, "prometheus.yml")
	for file, text := range map[string]string{samples: scraped, config: "{}\n"} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	data := filepath.Join(dir, "data")
	if output, err := exec.CommandContext(t.Context(), tool(t, "promtool"), "tsdb", "create-blocks-from", "openmetrics", samples, data).
		CombinedOutput(); err != nil {
		t.Fatalf("promtool: %v\n%s", err, output)
	}
	// A series that a process no longer exports ends at the next scrape of a real Prometheus. Imported samples lack its
	// mark of that, so no sample may count for longer than until the next one.
	server := exec.CommandContext(t.Context(), tool(t, "prometheus"), "--config.file", config, "--storage.tsdb.path", data,
		"--storage.tsdb.retention.time", "100y", "--query.lookback-delta", (scrapeInterval + time.Second).String(), "--web.listen-address", "127.0.0.1:0")
	stderr, err := server.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	listens := regexp.MustCompile(`Listening on" address=([\d.:]+)`)
	var log strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		log.WriteString(lines.Text() + "\n")
		if found := listens.FindStringSubmatch(lines.Text()); found != nil {
			address = "http://" + found[1]
		}
		if address != "" && strings.Contains(lines.Text(), "ready to receive web requests") {
			go func() { _, _ = io.Copy(io.Discard, stderr) }() // a full pipe would block it
			return address
		}
	}
	t.Fatalf("prometheus has ended:\n%s", &log)
	return ""
}

// A point is a value and when it was, from the beginning.
type point struct{ seconds, value float64 }

// A series has the labels of one, and its points.
type series struct {
	labels map[string]string
	points []point
}

// ask evaluates an expression of the dashboard at each scrape.
func ask(t *testing.T, address, expression string, began time.Time) []series {
	t.Helper()
	const rateInterval = "1m" // four scrapes, as Grafana takes
	expression = strings.NewReplacer("$lock", ".+", "$__rate_interval", rateInterval).Replace(expression)
	query := url.Values{
		"query": {expression}, "step": {fmt.Sprint(scrapeInterval.Seconds())},
		"start": {fmt.Sprint(began.Unix())}, "end": {fmt.Sprint(began.Add(length).Unix())},
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/v1/query_range?"+query.Encode(), http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Error string
		Data  struct {
			Result []struct {
				Metric map[string]string
				Values [][2]any
			}
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || answer.Error != "" {
		t.Fatalf("%s: %v %s", expression, err, answer.Error)
	}
	var all []series
	for _, result := range answer.Data.Result {
		s := series{labels: result.Metric}
		for _, pair := range result.Values {
			at, _ := pair[0].(float64)
			text, _ := pair[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if err != nil {
				t.Fatal(err)
			}
			if value == value { // a quantile of nothing is no number
				s.points = append(s.points, point{at - float64(began.Unix()), value})
			}
		}
		if len(s.points) > 0 {
			all = append(all, s)
		}
	}
	return all
}
