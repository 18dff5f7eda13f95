package locks

import (
	"testing"

	"github.com/gocurator/curator/framework"
)

// What a view of the directory says of others. A listing that lacks the node ends the stay: the event of the node's
// removal may be lost as well.
func TestDemandByAView(t *testing.T) {
	inHandoverTest(t, func(t *handoverTest) {
		lease := t.acquire()
		own, other := lease.NodeName(), "other-lock-0000000099"
		for name, test := range map[string]struct {
			view framework.View
			want demand
		}{
			"no answer yet": {framework.View{Status: framework.StatusUnknown}, unknown},
			"refused":       {framework.View{Status: framework.StatusFailed}, unheard},
			"no directory":  {framework.View{Status: framework.StatusGone}, unheard},
			"alone": {
				framework.View{Status: framework.StatusPresent, Current: true, Children: []string{own, "x"}}, alone,
			},
			"its watch has fired": {framework.View{Status: framework.StatusPresent, Children: []string{own}}, unknown},
			"without the node":    {framework.View{Status: framework.StatusPresent, Current: true}, unheard},
			"another contender": {
				framework.View{Status: framework.StatusPresent, Current: true, Children: []string{own, other}}, demanded,
			},
			"another contender, its watch has fired": {
				framework.View{Status: framework.StatusPresent, Children: []string{other, own}}, demanded,
			},
		} {
			r := residenceOf(lease)
			r.demanded.Store(false)
			if got := r.demand(test.view); got != test.want {
				t.Errorf("%s: got demand %d, want %d", name, got, test.want)
			}
			if got, want := r.demanded.Load(), test.want == demanded; got != want {
				t.Errorf("%s: got a contender noted for good: %t, want %t", name, got, want)
			}
		}
		t.release(lease)
	})
}
