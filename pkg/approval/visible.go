package approval

import "sync"

// What a search may show. A path is shown if the calling tool may see it, and if Read could: what
// may not be read cannot be found either. Nobody is asked about each path, so a rule that asks hides it;
// only the ask of the default does not, once the search itself is permitted.

// readTool is the tool that a path would be read by.
const readTool = "Read"

// A sight is what the rules say to one tool's seeing paths.
type sight struct {
	hiding   []*rule // deny and ask
	showing  []*rule // allow; looked at where the default denies
	onlyRead bool    // the rules' args are those of a Read of the path
	open     bool    // an allow holds for every path
}

// visible returns the filter for an evaluated action; nil where nothing can be hidden.
func (p *Policy) visible(e *evaluation) PathFilter {
	if !p.canHide(e) {
		return nil
	}
	denies := p.fallback == Deny
	sights := sync.OnceValue(func() (s []*sight) { // not every call that may search does
		s = append(s, p.sight(e, e.action.Tool))
		if e.action.Tool != readTool {
			s = append(s, p.sight(e, readTool))
		}
		return s
	})
	return func(path Path) Decision {
		path.Rel = composed(path.Rel)
		d := Allow
		for _, s := range sights() {
			d = min(d, s.decide(path, denies))
		}
		return d
	}
}

// canHide reports whether there is a path that is hidden.
func (p *Policy) canHide(e *evaluation) bool {
	for _, tool := range []string{e.action.Tool, readTool} {
		for _, r := range p.of(tool).sight {
			if r.effect != Allow && e.looksAt(r, tool) {
				return true
			}
		}
	}
	return p.fallback == Deny && !(p.sight(e, e.action.Tool).open && p.sight(e, readTool).open)
}

// looksAt reports whether r may say something to what tool sees.
func (e *evaluation) looksAt(r *rule, tool string) bool {
	return r.about(e.who) && (tool != e.action.Tool || e.argsHold(r)) && (r.effect != Ask || !e.answers(r))
}

func (p *Policy) sight(e *evaluation, tool string) *sight {
	s := &sight{onlyRead: tool != e.action.Tool}
	for _, r := range p.of(tool).sight {
		if !e.looksAt(r, tool) {
			continue
		}
		if r.effect != Allow {
			s.hiding = append(s.hiding, r)
			continue
		}
		s.showing = append(s.showing, r)
		s.open = s.open || (!s.onlyRead || len(r.args) == 0) && (r.paths == nil || r.paths.coversAll(seeing))
	}
	return s
}

// answers reports whether the answer to the call itself answers an ask rule: it is about the call
// as a whole, or about every path that it names.
func (e *evaluation) answers(r *rule) bool {
	for _, m := range e.matched {
		if m == r {
			return r.paths == nil || r.paths.fits(e.action.Paths, true)
		}
	}
	return false
}

// decide returns what a path gets: the strictest of the rules that hide it; Deny where the default
// denies and no rule shows it; else Allow.
func (s *sight) decide(p Path, denies bool) Decision {
	d := Allow
	for _, r := range s.hiding {
		if r.effect < d && s.holds(r, p) {
			d = r.effect
			if d == Deny {
				return Deny
			}
		}
	}
	if d != Allow || !denies || s.open {
		return d
	}
	for _, r := range s.showing {
		if s.holds(r, p) {
			return Allow
		}
	}
	return Deny
}

// holds reports whether a rule holds for seeing p. Whoever may list or read is taken to see: a rule
// that is about only one of both counts.
func (s *sight) holds(r *rule, p Path) bool {
	if r.paths != nil && !r.paths.matches(p.Rel) {
		return false
	}
	if s.onlyRead && r.paths != nil && r.paths.ops == bitOf(List) && p.Access != List {
		return false // a Read of a file lists nothing
	}
	if !s.onlyRead || len(r.args) == 0 {
		return true
	}
	args := &arguments{parsed: map[string]any{"file_path": p.Rel, "path": p.Rel}}
	for i := range r.args {
		if !r.args[i].holds(args) {
			return false
		}
	}
	return true
}
