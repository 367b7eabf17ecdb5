package shelltool

import "github.com/toolhost/toolhost/pkg/toolkit"

// A place is what a result says of the sandbox that it comes from.
type place struct {
	id        string
	show      bool   // only the id brings the caller back to it
	replaced  string // how the one before it ended, if the caller has to be told
	restarted bool   // it was restarted under this call
	fresh     bool   // it is the first result from it
	backend   string
	degraded  string // why docker exec runs the commands; "" where the agent does
}

func placeOf(v *visit, a address) place {
	return place{
		id: v.tenant.id, show: !a.keyed, replaced: v.replaced(), fresh: v.fresh,
		backend: v.Name(), degraded: v.Info.Degraded,
	}
}

// The names of backends.
const (
	agentBackend = "agent"
	localBackend = "local"
)

// special returns the backend's name where it is not the usual one.
func (p place) special() string {
	if p.backend == agentBackend {
		return ""
	}
	return p.backend
}

func (p place) changed() bool { return p.restarted || p.replaced != "" }

// notes are what a reader has to know of the place.
func (p place) notes() (out []string) {
	if p.replaced != "" {
		out = append(out, "note: the environment was restarted: "+toolkit.Inline(p.replaced)+
			"; processes and files of before are gone, but for files in roots and mounts")
	}
	if p.degraded != "" {
		out = append(out, "note: backend "+p.backend+": "+toolkit.Inline(p.degraded))
	}
	if p.backend == localBackend && p.fresh {
		out = append(out, "note: backend local: commands run on the machine of the server; nothing is isolated")
	}
	if p.show {
		out = append(out, "sandbox_id: "+p.id+"; send it with the next call to go on in this sandbox")
	}
	return out
}
