package queue

import (
	"path"

	"github.com/gocurator/curator/recipes/internal/steps"
)

// Reports of steps: see package steps. They do nothing without an observer.

// Step reports a step of the grant.
func (g *Grant) Step(kind steps.Kind) {
	o := g.Queue.Registry.observer
	if o == nil {
		return
	}
	s := steps.Step{Kind: kind, Dir: g.Queue.Config.Dir, Node: g.Name, Session: g.Session.ID()}
	if g.Keeper != nil {
		s.Hold = 1 + g.Count
	}
	if kind == steps.Ended { // mu is held
		s.Err = g.cause.Error()
		if g.binding != nil { // nil if the session ended within Bind
			s.Valid = g.binding.ValidUntil
		}
	}
	o.Step(s)
}

// stepOf reports a step of a node or a directory.
func (r *Registry) stepOf(kind steps.Kind, node string, session int64) {
	if r.observer != nil {
		dir, name := path.Split(node)
		r.observer.Step(steps.Step{Kind: kind, Dir: path.Clean(dir), Node: name, Session: session})
	}
}

func (r *Registry) stepOfDecision(kind steps.Kind, key viewKey, nodes []Node, me Node, d Decision) {
	if r.observer == nil {
		return
	}
	s := steps.Step{Kind: kind, Dir: key.dir, Node: me.Name, Session: key.session.ID(), Markers: key.markers, Admitted: d.Admitted}
	for _, n := range nodes {
		s.Names = append(s.Names, n.Name)
	}
	r.observer.Step(s)
}

// step reports what has changed the view.
func (v *sharedView) step(s steps.Step) {
	if v.registry.observer != nil {
		s.Dir, s.Session = v.key.dir, v.key.session.ID()
		v.registry.observer.Step(s)
	}
}
