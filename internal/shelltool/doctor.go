package shelltool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// trialTime bounds all that doctor does with the engine.
const trialTime = time.Minute

// doctor looks at the roots and the engine, and tries a sandbox. It never pulls.
func doctor(c *cli.Context, find connector) []toolkit.Finding {
	o, err := readSettings(c)
	if err != nil { // setup has refused it already
		return nil
	}
	ctx, cancel := context.WithTimeout(c.Context, trialTime)
	defer cancel()
	t := &toolset{settings: o, link: newLink(find, o)}
	defer t.link.close()
	out := o.rootFindings()
	roots, err := outermost(o.operator.Roots())
	if err != nil { // said above
		return out
	}
	e, info, err := t.link.get(ctx)
	if err != nil {
		return append(out, toolkit.Finding{What: "engine", Text: words(err), Hint: "start Docker, or name the engine: mcp-shell --host unix:///path/to/docker.sock"})
	}
	if !o.local {
		out = append(out, engineFindings(info)...)
		image, there := t.imageFinding(ctx, e)
		if out = append(out, image); !there {
			return out
		}
	}
	return append(out, t.trial(ctx, roots))
}

// words returns what may be read of an error here, where all may be.
func words(err error) string {
	if text, ok := toolkit.VisibleText(err); ok {
		return text
	}
	return err.Error()
}

// rootFindings looks at the roots.
func (o *settings) rootFindings() (out []toolkit.Finding) {
	for _, r := range o.operator.Roots() {
		out = append(out, rootFinding(r))
	}
	if o.operator.Empty() {
		out = append(out, toolkit.Finding{What: "roots", OK: true, Text: "none. " + o.files()})
	}
	return out
}

func rootFinding(r *fsroot.Root) toolkit.Finding {
	f := toolkit.Finding{What: "root " + r.Dir()}
	if err := checkRoot(r); err != nil {
		f.Text, f.Hint = words(err), "give an existing directory"
		return f
	}
	f.OK, f.Text = true, "is there"
	if uid, ok := ownerOf(r.Dir()); ok {
		f.Text = fmt.Sprintf("belongs to uid %d, as whom commands run unless --user says otherwise", uid)
	}
	return f
}

func engineFindings(i container.EngineInfo) []toolkit.Finding {
	text := fmt.Sprintf("version %s, API %s, %s, at %s (%s)", i.Version, i.API, i.Arch, i.Host, i.Source)
	for _, is := range []struct {
		so   bool
		what string
	}{{i.Remote, "on another machine: --root and --mount cannot be used"}, {i.Rootless, "rootless"}} {
		if is.so {
			text += ", " + is.what
		}
	}
	if len(i.Runtimes) > 0 {
		text += ", runtimes " + strings.Join(i.Runtimes, ", ")
	}
	out := []toolkit.Finding{{What: "engine", OK: true, Text: text}}
	for _, n := range i.Notes {
		out = append(out, toolkit.Finding{What: "engine", OK: true, Text: "note: " + n})
	}
	return out
}

// imageFinding looks whether the image is there, or how it would come.
func (t *toolset) imageFinding(ctx context.Context, e engine) (f toolkit.Finding, there bool) {
	f.What = "image " + t.config.Image
	id, ok, err := e.HasImage(ctx, t.config.Image)
	switch {
	case err != nil:
		f.Text = words(err)
	case ok:
		f.OK, f.Text = true, "is there, "+id
	case t.config.Pull == container.PullNever:
		f.Text, f.Hint = "is missing, and --pull never keeps it so", "docker pull "+t.config.Image
	default:
		f.OK, f.Text = true, "is missing; the first call pulls it, so it takes longer and needs the network: docker pull "+t.config.Image+" does it now"
	}
	return f, ok && err == nil
}

// trial makes a sandbox and runs nothing in it.
func (t *toolset) trial(ctx context.Context, roots []string) toolkit.Finding {
	f := toolkit.Finding{What: "sandbox"}
	s := setting{config: t.config}
	s.config.Pull = container.PullNever
	if t.local {
		s.config.Dir = strings.Join(roots[:min(1, len(roots))], "")
	} else if err := s.mount(roots); err != nil {
		f.Text = words(err)
		return f
	}
	begun := time.Now()
	box, err := t.link.open(ctx, s.config, nil)
	if err != nil {
		f.Text = words(err)
		return f
	}
	defer box.Close()
	made := time.Since(begun)
	res, err := box.Run(ctx, container.Command{Argv: []string{t.shell, "-c", "true"}, Timeout: 10 * time.Second, Limit: 1000}, nil)
	switch {
	case err != nil:
		f.Text = words(err)
	case res.TimedOut || res.Code != 0:
		f.Text = fmt.Sprintf("%s -c true: exit code %d: %s", t.shell, res.Code, strings.TrimSpace(res.Stderr.Text))
		f.Hint = "name a shell that the image has: --shell /bin/sh"
	default:
		f.OK = true
		f.Text = fmt.Sprintf("backend %s, user %s, made in %s, a command took %s", box.Name(), box.Info.User,
			made.Round(time.Millisecond), res.Took.Round(100*time.Microsecond))
	}
	if box.Info.Degraded != "" {
		f.Text += "; degraded: " + box.Info.Degraded
	}
	return f
}
