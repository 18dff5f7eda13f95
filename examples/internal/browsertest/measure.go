//go:build unix

package browsertest

import "time"

// Busy is for how long the page's main thread has worked since it was opened.
func (p *Page) Busy() time.Duration {
	p.t.Helper()
	var got struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	p.call("Performance.getMetrics", nil, &got)
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return time.Duration(m.Value * float64(time.Second))
		}
	}
	p.t.Fatal("got no TaskDuration")
	return 0
}

// Received is how many bytes of answers and streams have come.
func (p *Page) Received() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.received
}

// Problems are the exceptions that the page's scripts did not catch.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.problems
}
