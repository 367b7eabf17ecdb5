package filetool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// How much Read shows.
const (
	defaultLines = 2000      // lines where no limit is given
	lineLetters  = 2000      // letters of one line
	windowBytes  = 4 << 20   // of the lines that are held; the budget cuts further
	lineCost     = 64        // bytes that a line takes beside its text, also the empty one
	lineBytes    = 64 << 20  // of one line that are read, and to count what follows the lines shown
	countedSize  = 10 << 20  // files up to this size have their lines counted to the end
	tailCounted  = 256 << 20 // up to this size, the lines in front of a tail are counted
	mediaBytes   = 5 << 20   // of an image or sound that is shown
	folderNames  = 100       // entries of a directory
	farBack      = 1 << 50   // the largest offset from the end; no file has as many lines
)

var readDefinition = toolkit.Definition{
	Effect: approval.ReadFiles,
	Name:   "Read",
	Title:  "Read a file",
	Description: "Reads a file below the roots: text as numbered lines (number, tab, line), images, audio, " +
		"notebooks. Results are capped; the last line says how to continue. A directory is listed.",
	Params: []toolkit.Param{
		{
			Name: "file_path", Type: toolkit.String, Required: true, Example: `"src/main.go"`,
			Description: "Relative to the root or absolute.",
			Aliases:     []string{"path", "filePath", "file", "filename", "uri", "relative_path"},
		},
		{
			Name: "offset", Type: toolkit.Integer, Example: "1",
			Description: "First line to read, 1-based; negative counts from the end.",
			Aliases:     []string{"start_line", "startLine"},
		},
		{
			Name: "limit", Type: toolkit.Integer, Example: "2000",
			Description: "How many lines to read, 2000 by default.",
			Aliases:     []string{"head", "length", "num_lines", "max_lines"},
		},
		{Name: "tail", Type: toolkit.Integer, Hidden: true, Description: "How many lines to read from the end."},
	},
	Hints:    readOnly,
	Deadline: readDeadline,
}

// addRead registers Read.
func addRead(s *toolkit.Server, r roots) error {
	return toolkit.Add(s, toolkit.Tool[readIn, *readPlan, readOut]{
		Definition: readDefinition, Plan: r.planRead, Run: runRead, Render: readOut.render,
	})
}

type readIn struct {
	Path   string `json:"file_path"`
	Offset *int64 `json:"offset"`
	Limit  *int64 `json:"limit"`
	Tail   *int64 `json:"tail"`
}

// A readPlan is an open file or directory, and which lines of it to show.
type readPlan struct {
	names  namer
	root   *fsroot.Root
	file   *fsroot.File // or
	dir    *fsroot.Dir
	offset int64
	limit  int64
	notes  []string
}

// Close closes what is open.
func (p *readPlan) Close() error {
	if p.file != nil {
		return p.file.Close()
	}
	return p.dir.Close()
}

func (p *readPlan) real() string {
	if p.file != nil {
		return p.file.Real
	}
	return p.dir.Real
}

func (r roots) planRead(ctx context.Context, call *toolkit.Call, in readIn) (*readPlan, approval.Action, error) {
	set, err := r.of(ctx, call)
	if err != nil {
		return nil, approval.Action{}, err
	}
	place, a, err := find(set, in.Path)
	if err != nil {
		return nil, a, err
	}
	p := &readPlan{names: namerFor(set, place, in.Path), root: place.Root, offset: 1, limit: defaultLines}
	if err := p.open(place.Rel); err != nil {
		return nil, a, err
	}
	p.lines(in)
	p.noteName(in.Path, place.Rel)
	access := approval.Read
	if p.dir != nil {
		access = approval.List
	}
	return p, reading(place.Root, access, "read "+p.names.name(p.real()), p.real()), nil
}

func (p *readPlan) open(rel string) (err error) {
	p.file, err = p.root.Open(rel)
	if fsroot.KindOf(err) == fsroot.IsDir {
		p.dir, err = p.root.OpenDir(rel)
	}
	return err
}

// lines takes which lines to show. A limit that would show nothing means the default: a
// hint that repeats the same call made models loop (opencode#45200, #46807).
func (p *readPlan) lines(in readIn) {
	switch {
	case in.Offset != nil && *in.Offset != 0:
		p.offset = max(*in.Offset, -farBack)
	case in.Tail != nil && *in.Tail > 0:
		p.offset = -min(*in.Tail, farBack)
	}
	switch {
	case in.Limit == nil:
	case *in.Limit > 0:
		p.limit = *in.Limit
	default:
		p.notes = append(p.notes, fmt.Sprintf("limit %d is taken as the default, %d", *in.Limit, defaultLines))
	}
}

// noteName says which file was read where that is not what was asked for to the letter.
func (p *readPlan) noteName(asked, rel string) {
	switch {
	case p.real() != rel:
		p.notes = append(p.notes, "through a link: this is "+p.names.name(p.real()))
	case !strings.HasSuffix(path.Clean("/"+strings.ReplaceAll(asked, `\`, "/")), strings.ReplaceAll(rel, `\`, "/")):
		if rel != "." && !isURI(asked) {
			p.notes = append(p.notes, "this is "+p.names.name(rel))
		}
	}
}

// A readOut is one of the things that a path can be. The notes stand behind it.
type readOut struct {
	lines  *window
	media  *media
	folder *folder
	notes  []string
}

func runRead(ctx context.Context, p *readPlan, g approval.Grant, _ toolkit.Progress) (readOut, error) {
	if p.dir != nil {
		f, err := listFolder(p, visible(g, p.dir, true))
		return readOut{folder: f, notes: p.notes}, err
	}
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	in := interruptible{ctx, p.file}
	defer in.arm()()
	head := make([]byte, textfile.HeadSize)
	n, err := io.ReadFull(in, head)
	late := n > 0 && errors.Is(err, context.DeadlineExceeded) // what came before is shown
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF && !late {
		return readOut{}, p.unreadable(err)
	}
	head = head[:n]
	out, err := p.read(in, head)
	out.notes = append(p.notes, out.notes...)
	return out, err
}

// unreadable explains an error of reading, which the system may give for a file that could
// be opened.
func (p *readPlan) unreadable(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return toolkit.Because(err, "%s was not read as far as asked in time: it waits for data, or is too large; "+
			"read a part nearer to its start", p.names.name(p.real()))
	}
	return explain(err, "%s cannot be read: the system reports an error; try another file", p.names.name(p.real()))
}

// read reads the file, of which head is already read.
func (p *readPlan) read(in interruptible, head []byte) (readOut, error) {
	kind := textfile.Sniff(head)
	whole := io.MultiReader(bytes.NewReader(head), in)
	switch {
	case !kind.IsText():
		m, err := p.readMedia(kind, whole)
		return readOut{media: m}, err
	case strings.HasSuffix(p.file.Real, ".ipynb"):
		return p.readNotebook(kind, in, whole)
	}
	src := source{r: textfile.NewDecoder(whole, kind.Encoding), kind: kind, at: in, size: p.file.Info.Size()}
	w, err := src.window(p.offset, p.limit)
	if err != nil {
		return readOut{}, p.unreadable(err)
	}
	return readOut{lines: w, notes: textNotes(kind)}, nil
}

// textNotes says where the lines are not the bytes of the file.
func textNotes(kind textfile.Kind) []string {
	notes := encodingNotes(kind.Encoding)
	if kind.EOL == textfile.CR {
		notes = append(notes, "lines end in CR alone, so the file counts as one line")
	}
	return notes
}

func encodingNotes(e textfile.Encoding) []string {
	switch e {
	case textfile.UTF16LE, textfile.UTF16BE:
		return []string{"decoded from " + strings.ToUpper(e.String())}
	case textfile.EightBit:
		return []string{"not UTF-8: other bytes are shown as in windows-1252"}
	}
	return nil
}

// readNotebook flattens a notebook. One that is too large, or is none, is shown as it is.
func (p *readPlan) readNotebook(kind textfile.Kind, in interruptible, whole io.Reader) (readOut, error) {
	decoded := textfile.NewDecoder(whole, kind.Encoding)
	data, err := io.ReadAll(io.LimitReader(decoded, countedSize+1))
	if err != nil {
		return readOut{}, p.unreadable(err)
	}
	src := source{r: io.MultiReader(bytes.NewReader(data), decoded), kind: kind, at: in, size: p.file.Info.Size()}
	notes := textNotes(kind)
	if len(data) <= countedSize {
		// JSON has no bytes beside UTF-8: they would be lost.
		if text, cells, ok := flatten([]byte(textfile.Show(data))); ok {
			flat := bytes.NewReader(text)
			src = source{r: flat, at: flat, size: int64(len(text))}
			notes = append(encodingNotes(kind.Encoding), flattenedNote(cells))
		}
	}
	w, err := src.window(p.offset, p.limit)
	if err != nil {
		return readOut{}, p.unreadable(err)
	}
	return readOut{lines: w, notes: notes}, nil
}

func flattenedNote(cells int) string {
	return "notebook of " + plural(cells, "cell") + ", flattened: line numbers are of this view, not of the file"
}
