package filetool

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/pkg/textfile"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// render puts the notes between what is read and the mark, which says how to continue and
// is the last line.
func (o readOut) render(b toolkit.Budget) toolkit.Result {
	notes := ""
	for _, n := range o.notes {
		notes += "[" + n + "]\n"
	}
	var res toolkit.Result
	mark := ""
	switch room := b.Text - len(notes); {
	case o.media != nil:
		res = o.media.render(b)
	case o.folder != nil:
		res.Text, mark = o.folder.render(room)
	default:
		res.Text, mark = o.lines.render(room)
	}
	res.Text = strings.TrimSuffix(res.Text+notes+mark, "\n")
	return res
}

// A media is a file that has no lines.
type media struct {
	name string // as clients see it
	uri  string
	mime string
	size int64
	data []byte // of an image or sound that may be shown
}

// readMedia reads what a client can show; of all else the facts are enough.
func (p *readPlan) readMedia(kind textfile.Kind, r io.Reader) (*media, error) {
	m := &media{
		name: p.names.name(p.file.Real), uri: fileURI(p.root.Abs(p.file.Real)),
		mime: kind.MIME, size: p.file.Info.Size(),
	}
	if !m.showable() || m.size > mediaBytes {
		return m, nil
	}
	data, err := io.ReadAll(io.LimitReader(r, mediaBytes+1))
	if err != nil {
		return nil, p.unreadable(err)
	}
	m.size = max(m.size, int64(len(data)))
	if len(data) <= mediaBytes {
		m.data = data
	}
	return m, nil
}

// showable reports whether clients show the type: those that all models take.
func (m *media) showable() bool {
	return m.isAudio() || slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, m.mime)
}

func (m *media) isAudio() bool { return strings.HasPrefix(m.mime, "audio/") }

func (m *media) render(b toolkit.Budget) toolkit.Result {
	const envelope = 2048 // of the result round the data
	limit := min(mediaBytes, (b.All-envelope)/4*3)
	fits := m.data != nil && len(m.data) <= limit
	switch {
	case fits && m.isAudio():
		return m.shown(&mcp.AudioContent{Data: m.data, MIMEType: m.mime})
	case fits:
		return m.shown(&mcp.ImageContent{Data: m.data, MIMEType: m.mime})
	}
	text := "[binary, " + m.text()[1:] + "\n"
	if m.showable() {
		text += fmt.Sprintf("[not shown: at most %s of an image or sound are]\n", byteSize(int64(limit)))
	}
	link := &mcp.ResourceLink{URI: m.uri, Name: m.name, MIMEType: m.mime, Size: &m.size}
	return toolkit.Result{Text: text, Media: []mcp.Content{link}}
}

func (m *media) shown(block mcp.Content) toolkit.Result {
	return toolkit.Result{Text: m.text() + "\n", Media: []mcp.Content{block}}
}

func (m *media) text() string {
	return fmt.Sprintf("[%s, %s, %s]", m.mime, byteSize(m.size), m.name)
}

// fileURI returns the URI of an absolute path of this system.
func fileURI(abs string) string {
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// A folder is the short listing of a directory.
type folder struct {
	name    string
	entries []string // escaped, marked by type, sorted
	total   int      // entries that may be shown
	hidden  int      // entries that the policy hides
	atLeast bool     // there were too many to look at all
}

// folderLooked bounds how many entries of a directory are looked at.
const folderLooked = 10_000

func listFolder(p *readPlan, shows func(rel string, isDir bool) bool) (*folder, error) {
	entries, err := p.dir.ReadDir(folderLooked + 1)
	if err != nil && err != io.EOF {
		return nil, p.unreadable(err)
	}
	f := &folder{name: p.names.name(p.dir.Real), atLeast: len(entries) > folderLooked}
	for _, e := range entries[:min(len(entries), folderLooked)] {
		if shows != nil && !shows(e.Name(), e.IsDir()) {
			f.hidden++
			continue
		}
		f.entries = append(f.entries, toolkit.Inline(e.Name())+typeMark(e.Type()))
	}
	f.total = len(f.entries)
	slices.Sort(f.entries)
	f.entries = f.entries[:min(f.total, folderNames)]
	return f, nil
}

// render writes the entries as far as room reaches, and apart from them a last line that
// says how many are missing.
func (f *folder) render(room int) (text, mark string) {
	var b strings.Builder
	fmt.Fprintf(&b, "[%s is a directory: read one of its files, or list it for more]\n", f.name)
	shown := 0
	for _, e := range f.entries {
		if b.Len()+len(e) > room-markRoom {
			break
		}
		b.WriteString(rowName(e) + "\n")
		shown++
	}
	if f.hidden > 0 {
		fmt.Fprintf(&b, "[%s hidden by the policy]\n", plural(f.hidden, "entry"))
	}
	if f.total == 0 {
		b.WriteString("[no entries]\n")
	}
	return b.String(), f.mark(shown)
}

// mark is the last line where only so many entries are shown; none if that is all. Which
// ones come first of a directory that was not looked at in full is the system's choice.
func (f *folder) mark(shown int) string {
	switch {
	case f.atLeast:
		return fmt.Sprintf("[%d of more than %s entries, not the first by name; list the directory to see all in order]\n",
			shown, thousands(f.total))
	case shown < f.total:
		return fmt.Sprintf("[%d of %s entries; list the directory to see the others]\n", shown, thousands(f.total))
	}
	return ""
}
