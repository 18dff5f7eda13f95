package txnlog

// A scope is a path. Changes of nodes at it or below it are read, and others passed over.
type scope string

const all scope = "/"

func (s scope) has(path []byte) bool {
	if s == all || s == "" {
		return true
	}
	return len(path) >= len(s) && string(path[:len(s)]) == string(s) && (len(path) == len(s) || path[len(s)] == '/')
}
