package survey

import "time"

// A Change is what has happened between two looks.
type Change struct {
	At    time.Time `json:"time"`
	What  string    `json:"what"` // came, let in, left (it held), gone (it waited when last seen), silence or answer
	Who   string    `json:"who,omitempty"`
	Node  string    `json:"node,omitempty"`
	Why   string    `json:"why,omitempty"`     // why the servers were silent, or spoke again
	After float64   `json:"seconds,omitempty"` // since it came; since what is known was read
}

// Compare returns what has happened between two looks; old is nil at the first.
func Compare(old, now *Lock, at time.Time) (news []Change) {
	before := map[string]Contender{}
	if old != nil {
		for _, c := range old.Contenders {
			before[c.Path] = c
		}
	}
	tell := func(what string, c Contender, who string) {
		news = append(news, Change{At: at, What: what, Who: who, Node: c.Node, After: at.Sub(c.Since).Seconds()})
	}
	for _, c := range now.Contenders {
		was, known := before[c.Path]
		delete(before, c.Path)
		if !known {
			tell("came", c, c.Who)
		}
		if c.In() && !was.In() {
			tell("let in", c, c.Who)
		}
	}
	if old == nil {
		return news
	}
	for _, c := range old.Contenders { // in their order
		if _, gone := before[c.Path]; gone {
			what := "gone" // it may have been let in since
			if c.In() {
				what = "left"
			}
			news = append([]Change{{At: at, What: what, Who: c.Who, Node: c.Node, After: at.Sub(c.Since).Seconds()}}, news...)
		}
	}
	return news
}
