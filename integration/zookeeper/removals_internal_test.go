//go:build unix

package zookeeper

import "testing"

func TestATransactionThatIsCutOffIsAnError(t *testing.T) {
	for name, one := range map[string]transaction{
		"removal":  {op: 2, body: []byte{0, 0, 0, 9, '/'}},
		"creation": {op: 1, body: jute(nil, "/a")},
		"part":     {op: 14, body: []byte{0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0}},
		"negative": {op: 2, body: []byte{255, 255, 255, 0}},
	} {
		if removed, err := removals([]transaction{one}); err == nil {
			t.Errorf("%s: got %v and no error", name, removed)
		}
	}
}
