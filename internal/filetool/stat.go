package filetool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

var statDefinition = toolkit.Definition{
	Effect: approval.ReadFiles,
	Name:   "Stat",
	Title:  "Describe a path",
	Description: "Tells type, size, time, mode, link target, media type, encoding, line ends, lines and hash " +
		"of a path below the roots. Lines and hash only up to 10 MB. Without path: the allowed roots.",
	Params: []toolkit.Param{{
		Name: "path", Type: toolkit.String, Example: `"src/main.go"`,
		Description: "Relative to the root or absolute.",
		Aliases:     []string{"file_path", "filePath", "file", "dir_path", "uri"},
	}},
	Output: json.RawMessage(`{"type":"object","properties":{
		"path":{"type":"string","description":"as requested"},
		"root":{"type":"string","description":"its root"},
		"type":{"type":"string","description":"such as regular file"},
		"size":{"type":"integer","description":"bytes"},
		"modified":{"type":"string","description":"RFC 3339"},
		"mode":{"type":"string","description":"octal"},
		"link_target":{"type":"string","description":"if below the root"},
		"link_state":{"type":"string","description":"ok, outside, dangling, loop, hidden"},
		"mime":{"type":"string","description":"media type"},
		"encoding":{"type":"string","description":"such as utf-8, or binary"},
		"eol":{"type":"string","description":"line ends, such as lf"},
		"lines":{"type":"integer","description":"how many"},
		"sha256":{"type":"string","description":"of the content"},
		"roots":{"type":"array","description":"without a path","items":{"type":"string"}}}}`),
	Hints:    readOnly,
	Deadline: readDeadline,
}

// addStat registers Stat.
func addStat(s *toolkit.Server, r roots) error {
	return toolkit.Add(s, toolkit.Tool[statIn, *statPlan, statOut]{
		Definition: statDefinition, Plan: r.planStat, Run: runStat, Render: statOut.render,
	})
}

type statIn struct {
	Path string `json:"path"`
}

// A statPlan is what is known of a path, and its file where there is content to look at.
type statPlan struct {
	out  statOut
	file *fsroot.File

	root  *fsroot.Root // nil for the list of roots
	real  []string     // what is looked at
	isDir bool
	link  *fsroot.Link
}

// Close closes what is open.
func (p *statPlan) Close() error {
	if p.file == nil {
		return nil
	}
	return p.file.Close()
}

// A statOut is what Stat tells. Members that do not apply are left out.
type statOut struct {
	Path       string   `json:"path,omitempty"`
	Root       string   `json:"root,omitempty"`
	Type       string   `json:"type,omitempty"`
	Size       *int64   `json:"size,omitempty"`
	Modified   string   `json:"modified,omitempty"`
	Mode       string   `json:"mode,omitempty"`
	LinkTarget string   `json:"link_target,omitempty"`
	LinkState  string   `json:"link_state,omitempty"`
	MIME       string   `json:"mime,omitempty"`
	Encoding   string   `json:"encoding,omitempty"`
	EOL        string   `json:"eol,omitempty"`
	Lines      *int64   `json:"lines,omitempty"`
	SHA256     string   `json:"sha256,omitempty"`
	Roots      []string `json:"roots,omitempty"`
}

func (r roots) planStat(ctx context.Context, call *toolkit.Call, in statIn) (*statPlan, approval.Action, error) {
	set, err := r.of(ctx, call)
	if err != nil {
		return nil, approval.Action{}, err
	}
	if in.Path == "" {
		p, a := planRoots(set)
		return p, a, nil
	}
	place, a, err := find(set, in.Path)
	if err != nil {
		return nil, a, err
	}
	info, err := place.Root.Lstat(place.Rel)
	if err != nil {
		return nil, a, err
	}
	names := namerFor(set, place, in.Path)
	p := &statPlan{out: describe(names, place, info)}
	real := []string{info.Real}
	if p.file, err = openToDescribe(place, info); err != nil {
		return nil, a, err
	}
	if p.file != nil && p.file.Real != info.Real {
		real = append(real, p.file.Real)
	}
	p.root, p.real, p.isDir, p.link = place.Root, real, info.IsDir(), info.Link
	return p, reading(place.Root, approval.Read, "describe "+p.out.Path, real...), nil
}

func planRoots(set *fsroot.Set) (*statPlan, approval.Action) {
	p := &statPlan{}
	for _, r := range set.Roots() {
		p.out.Roots = append(p.out.Roots, toolkit.Inline(r.Dir()))
	}
	return p, approval.Action{Effect: approval.ReadFiles, Summary: "list the allowed roots"}
}

// openToDescribe opens what has content. A file that this server may not read, or that
// was removed meanwhile, is described without.
func openToDescribe(place fsroot.Place, info fsroot.Info) (*fsroot.File, error) {
	if !info.Mode().IsRegular() && (info.Link == nil || info.Link.Kind != fsroot.Other || !info.Link.Mode.IsRegular()) {
		return nil, nil
	}
	f, err := place.Root.Open(place.Rel)
	switch fsroot.KindOf(err) {
	case fsroot.Permission, fsroot.NotExist, fsroot.NotRegular, fsroot.Changed:
		return nil, nil
	}
	return f, err
}

func describe(names namer, place fsroot.Place, info fsroot.Info) statOut {
	size := info.Size()
	out := statOut{
		Path: names.name(place.Rel), Root: toolkit.Inline(place.Root.Dir()), Type: fsroot.TypeName(info.Mode()),
		Size: &size, Modified: info.ModTime().UTC().Format(time.RFC3339), Mode: fmt.Sprintf("%04o", info.Mode().Perm()),
	}
	if l := info.Link; l != nil {
		out.LinkTarget, out.LinkState = linkFacts(names, l)
	}
	return out
}

// linkFacts returns where a link leads, as long as that is below the root, and in what
// state it is: what lies outside is nobody's business here.
func linkFacts(names namer, l *fsroot.Link) (target, state string) {
	if l.Kind == fsroot.Other && l.Target != "" {
		target = names.name(l.Target)
	}
	return target, linkState(l.Kind)
}

func linkState(k fsroot.Kind) string {
	switch k {
	case fsroot.Other:
		return "ok"
	case fsroot.Outside:
		return "outside"
	case fsroot.TooManyLinks:
		return "loop"
	}
	return "dangling"
}

func runStat(ctx context.Context, p *statPlan, g approval.Grant, _ toolkit.Progress) (statOut, error) {
	if err := seen("Stat", g, p.root, p.isDir, p.real...); err != nil {
		return statOut{}, err
	}
	if l := p.link; l != nil && l.Kind == fsroot.Other && !g.Unfiltered() && !shows(g, p.root, l.Target, l.Mode.IsDir()) {
		p.out.LinkTarget, p.out.LinkState = "", "hidden"
	}
	if p.file == nil {
		return p.out, nil
	}
	in := interruptible{ctx, p.file}
	defer in.arm()()
	if err := p.out.content(in, p.file.Info.Size()); err != nil {
		return statOut{}, explain(err, "%s cannot be read: the system reports an error; try another file", p.out.Path)
	}
	return p.out, nil
}

// content adds what the content tells.
func (o *statOut) content(in interruptible, size int64) error {
	head := make([]byte, textfile.HeadSize)
	n, err := in.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return err
	}
	kind := textfile.Sniff(head[:n])
	o.MIME, o.Encoding = kind.MIME, kind.Encoding.String()
	if kind.IsText() {
		o.EOL = kind.EOL.String()
	}
	if size > countedSize {
		return nil
	}
	hash := sha256.New()
	bytes := io.TeeReader(io.LimitReader(in, countedSize+1), hash)
	if kind.IsText() {
		lines, err := textfile.NewScanner(textfile.NewDecoder(bytes, kind.Encoding)).Count()
		if err != nil {
			return err
		}
		o.Lines = &lines
	}
	if _, err := io.Copy(io.Discard, bytes); err != nil {
		return err
	}
	o.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return nil
}

func (o statOut) render(toolkit.Budget) toolkit.Result {
	if len(o.Roots) > 0 {
		return toolkit.Result{Text: "allowed roots:\n" + strings.Join(o.Roots, "\n"), Structured: o}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\ntype: %s\n", rowName(o.Path), o.Type)
	for _, fact := range [][2]string{
		{"link to", o.LinkTarget},
		{"link state", o.LinkState},
		{"size", o.sizeText()},
		{"modified", o.Modified},
		{"mode", o.Mode},
		{"media type", o.MIME},
		{"encoding", o.Encoding},
		{"line ends", o.EOL},
		{"lines", number(o.Lines)},
		{"sha256", o.SHA256},
		{"root", o.Root},
	} {
		if fact[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", fact[0], fact[1])
		}
	}
	return toolkit.Result{Text: strings.TrimSuffix(b.String(), "\n"), Structured: o}
}

func (o statOut) sizeText() string {
	if *o.Size < 1000 {
		return byteSize(*o.Size)
	}
	return thousands(*o.Size) + " bytes"
}

func number(n *int64) string {
	if n == nil {
		return ""
	}
	return thousands(*n)
}
