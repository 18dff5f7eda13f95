//go:build unix

package browsertest

import (
	"fmt"
	"time"
)

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

// Slow makes the page's processor slower by a factor, and its network as slow as so many bytes a second, each answer
// later by a latency.
func (p *Page) Slow(processor float64, bytes int, latency time.Duration) {
	p.t.Helper()
	p.call("Emulation.setCPUThrottlingRate", map[string]any{"rate": processor}, nil)
	p.call("Network.emulateNetworkConditions", map[string]any{
		"offline": false, "latency": latency.Milliseconds(), "downloadThroughput": bytes, "uploadThroughput": bytes,
	}, nil)
}

// An AXNode is a node of the page's accessibility tree, from which a screen reader reads.
type AXNode struct{ Role, Name string }

// AccessibilityTree lists the nodes that are not ignored, in the order of the page.
func (p *Page) AccessibilityTree() (list []AXNode) {
	p.t.Helper()
	var got struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	p.call("Accessibility.getFullAXTree", nil, &got)
	for _, n := range got.Nodes {
		if !n.Ignored {
			list = append(list, AXNode{fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)})
		}
	}
	return list
}
