package shelltool

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// A status is what there is to know of a sandbox: one that is there, or would be made.
type status struct {
	Made     bool     `json:"made"` // the others are what it would be, if false
	Backend  string   `json:"backend,omitempty"`
	Degraded string   `json:"degraded,omitempty"`
	Image    string   `json:"image,omitempty"`
	ImageID  string   `json:"image_id,omitempty"`
	Shell    string   `json:"shell"`
	User     string   `json:"user,omitempty"`
	Dir      string   `json:"working_directory,omitempty"`
	Network  string   `json:"network,omitempty"`
	Profile  string   `json:"profile,omitempty"`
	Runtime  string   `json:"runtime,omitempty"`
	Limits   string   `json:"limits,omitempty"`
	Mounts   []string `json:"mounts,omitempty"`
	UptimeMS int64    `json:"uptime_ms,omitempty"`
	IdleEnd  string   `json:"ends"`
	Commands int      `json:"commands_run"`
	Jobs     int      `json:"jobs"`
}

// statusOf describes the sandbox of a visit, or, where v is nil, the one that would be made.
func (t *toolset) statusOf(v *visit, jobs int) *status {
	c := t.config
	s := &status{
		Shell: t.shell, Jobs: jobs,
		IdleEnd: fmt.Sprintf("after %s without a call, or %s in all", short(t.idle), short(t.lifetime)),
	}
	if t.local {
		s.Backend = localBackend
	} else {
		s.Image, s.User, s.Dir = c.Image, c.User, container.DefaultDir
		s.Network, s.Profile, s.Runtime = string(c.Network), string(c.Profile), c.Runtime
		s.Limits = fmt.Sprintf("%s of memory, %g processors, %d processes", sizeText(c.Memory), c.CPUs, c.PIDs)
		if c.ReadOnly {
			s.Limits += ", only mounts, /data, /tmp and /dev/shm can be written"
		}
	}
	if v == nil {
		return s
	}
	i := v.Info
	s.Made, s.Backend, s.Degraded, s.ImageID = true, v.Name(), i.Degraded, i.ImageID
	s.User, s.Dir = cmp.Or(i.User, s.User), cmp.Or(i.Dir, s.Dir)
	for _, m := range v.config.Mounts { // sources are the host's business
		text := m.Target
		if m.ReadOnly {
			text += " (read-only)"
		}
		s.Mounts = append(s.Mounts, text)
	}
	s.UptimeMS = time.Since(v.begun).Milliseconds()
	v.pool.mu.Lock()
	defer v.pool.mu.Unlock()
	s.Commands = v.ran
	return s
}

// text is one line a fact.
func (s *status) text() string {
	state := "it would be:"
	if s.Made {
		state = fmt.Sprintf("up for %s, %s run, %s", (time.Duration(s.UptimeMS) * time.Millisecond).Round(time.Second),
			count(s.Commands, "command", "commands"), count(s.Jobs, "job", "jobs"))
	}
	var b strings.Builder
	b.WriteString(state)
	for _, f := range []struct{ name, value string }{
		{"backend", s.Backend},
		{"degraded", s.Degraded},
		{"image", s.Image},
		{"image id", s.ImageID},
		{"shell", s.Shell},
		{"user", s.User},
		{"working directory", s.Dir},
		{"mounts", strings.Join(s.Mounts, ", ")},
		{"network", s.Network},
		{"profile", s.Profile},
		{"runtime", s.Runtime},
		{"limits", s.Limits},
		{"ends", s.IdleEnd},
	} {
		if f.value != "" {
			fmt.Fprintf(&b, "\n%s: %s", f.name, toolkit.Inline(f.value))
		}
	}
	return b.String()
}

// sizeText writes a size as --memory takes it.
func sizeText(n int64) string {
	for _, u := range []struct {
		shift int
		name  string
	}{{30, "g"}, {20, "m"}, {10, "k"}} {
		if n >= 1<<u.shift && n%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", n>>u.shift, u.name)
		}
	}
	return fmt.Sprint(n)
}

// short writes a duration without the zeros at its end.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
