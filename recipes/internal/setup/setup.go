// Package setup applies the options of a constructor, and collects what is wrong with them.
package setup

import "fmt"

// Problems are what is wrong with the arguments of one call, which reports them all at once.
type Problems []error

// Refuse adds a problem if wrong is true.
func (p *Problems) Refuse(wrong bool, format string, args ...any) {
	if wrong {
		*p = append(*p, fmt.Errorf(format, args...))
	}
}

// Apply calls each of opts with target. A nil option is a problem.
func Apply[T any, O ~func(*T)](p *Problems, target *T, opts []O) {
	for _, opt := range opts {
		p.Refuse(opt == nil, "an option is nil")
		if opt != nil {
			opt(target)
		}
	}
}
