package locks

import "strings"

// problems are several errors as one, on one line: errors.Join breaks lines, which logs do not expect.
type problems struct{ errs []error }

// joinErrors returns the errors that are not nil as one, nil if there is none.
func joinErrors(errs ...error) error {
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
		return &problems{all}
	}
}

func (p *problems) Error() string {
	texts := make([]string, len(p.errs))
	for i, err := range p.errs {
		texts[i] = oneLine(err)
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all of them.
func (p *problems) Unwrap() []error { return p.errs }

// oneLine is the text of an error that may have been made elsewhere.
func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}
