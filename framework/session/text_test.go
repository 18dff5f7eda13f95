package session_test

import (
	"fmt"
	"testing"

	"github.com/gocurator/curator/framework/session"
)

// text is printed as every type with a Format method of this library is.
type text string

func (x text) String() string { return string(x) }

func (x text) Format(f fmt.State, verb rune) { session.Format(f, verb, x) }

func TestFormatWritesTheTextByEveryVerb(t *testing.T) {
	for format, want := range map[string]string{
		"%v": "a lock", "%+v": "a lock", "%#v": "a lock", "%s": "a lock", "%d": "a lock", "%t": "a lock", "%08.3f": "00000a l",
		"%q": `"a lock"`, "%x": "61206c6f636b", "%X": "61206C6F636B", "%8v|": "  a lock|", "%-8s|": "a lock  |",
	} {
		if got := fmt.Sprintf(format, text("a lock")); got != want {
			t.Errorf("%s: got %s, want %s", format, got, want)
		}
	}
}
