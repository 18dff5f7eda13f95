package session

import (
	"fmt"
	"slices"
	"strings"
)

// Format is for Format methods. It writes value.String() by every verb, with its width, quoted by %q and in hexadecimal
// by %x. Without it, verbs such as %d print the fields, which may change or have credentials.
func Format(f fmt.State, verb rune, value fmt.Stringer) {
	switch verb {
	case 'q', 'x', 'X':
	default:
		verb = 's'
	}
	_, _ = fmt.Fprintf(f, fmt.FormatString(f, verb), value.String())
}

type joined struct{ errs []error }

// JoinErrors is errors.Join with a text of one line, which logs expect.
func JoinErrors(errs ...error) error {
	all := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	default:
		return &joined{all}
	}
}

func (j *joined) Error() string {
	texts := make([]string, len(j.errs))
	for i, err := range j.errs {
		texts[i] = oneLine(err)
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all.
func (j *joined) Unwrap() []error { return j.errs }

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
