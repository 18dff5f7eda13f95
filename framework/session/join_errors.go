package session

import "strings"

// joined are several errors as one.
type joined struct{ errs []error }

// JoinErrors returns the errors that are not nil as one, nil if there is none. Its text is one line: errors.Join breaks
// lines, which logs do not expect.
func JoinErrors(errs ...error) error {
	var all []error
	for _, err := range errs {
		if err != nil {
			all = append(all, err)
		}
	}
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

// Unwrap returns all of them.
func (j *joined) Unwrap() []error { return j.errs }

// oneLine is the text of an error that may have been made elsewhere.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
