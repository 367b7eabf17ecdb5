package imagetool

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// mcp is the form for clients: text that is complete in itself, each picture as far as it fits,
// and a link to each.
func (o *outcome) mcp(b toolkit.Budget) toolkit.Result {
	if o.made == nil {
		return toolkit.Result{Text: fmt.Sprintf("in progress: the picture is still being made (job %s).\nCall %s with job_id %s to wait for it, or read the resource image://%s later. Do not ask for it anew: it would be made twice.", o.job, toolName, o.job, o.job)}
	}
	shown := o.pictures(b)
	var media []mcp.Content
	lines := []string{o.headline()}
	for i, p := range o.made.Images {
		id := pictureID(o.job, i)
		lines = append(lines, o.line(i, id, shown[i]))
		if shown[i].block != nil {
			media = append(media, shown[i].block)
		}
		size := int64(len(p.Data))
		media = append(media, &mcp.ResourceLink{URI: "image://" + id, Name: id + "." + extension(p.Format), MIMEType: p.Format.MIME(), Size: &size})
	}
	if r := o.made.RevisedPrompt; r != "" && r != o.order.Prompt {
		lines = append(lines, "Revised prompt: "+toolkit.Inline(toolkit.Cut(r, 2000)))
	}
	for _, w := range o.made.warnings {
		lines = append(lines, "[warning: "+toolkit.Inline(w)+"]")
	}
	return toolkit.Result{Text: strings.Join(lines, "\n"), Media: media}
}

func (o *outcome) headline() string {
	what := "1 picture"
	if n := len(o.made.Images); n > 1 {
		what = fmt.Sprintf("%d pictures", n)
	}
	if o.made.found {
		return "Found " + what + " of an earlier call."
	}
	by := cmp.Or(o.made.Model, o.order.Model, o.provider)
	if o.provider != by {
		by += " (" + o.provider + ")"
	}
	return fmt.Sprintf("Made %s with %s in %s.", what, toolkit.Inline(by), o.made.took.Round(100*time.Millisecond))
}

// line says of one picture what it is, where it lies and how much of it is shown.
func (o *outcome) line(i int, id string, s shown) string {
	p := o.made.Images[i]
	what := string(p.Format)
	if p.Size != (provider.Size{}) { // a drawing need not have one
		what = p.Size.String() + " " + what
	}
	text := fmt.Sprintf("image://%s: %s, %d bytes", id, what, len(p.Data))
	if q := cmp.Or(o.made.Quality, o.order.Quality); q != "" {
		text += ", quality " + toolkit.Inline(q)
	}
	if f := o.made.files[i]; f != "" {
		text += ", saved as " + toolkit.Inline(f)
	} else {
		text += ", not saved"
	}
	return text + "; " + s.how
}

// A shown is how much of a picture a result holds.
type shown struct {
	block *mcp.ImageContent // nil: nothing
	how   string
}

// What a whole picture may measure to be shown: some clients put several into one request, and
// the API behind them refuses longer edges then.
const maxShownEdge = 2000

// textRoom is kept for text and links, in bytes.
const textRoom = 24_000

// pictures decides what is shown of each, within equal parts of the budget.
func (o *outcome) pictures(b toolkit.Budget) []shown {
	out := make([]shown, len(o.made.Images))
	room := (b.All - min(b.Text, textRoom)) / len(out)
	for i, p := range o.made.Images {
		out[i] = o.picture(p, room)
	}
	return out
}

func (o *outcome) picture(p provider.Picture, room int) shown {
	long := max(p.Size.Width, p.Size.Height)
	fits := onWire(p.Data) <= room
	switch {
	case o.show == "none":
		return shown{how: "not shown"}
	case p.Format == provider.SVG:
		return shown{how: "not shown: clients cannot draw svg"}
	case fits && (o.show == "full" || o.show != "preview" && long <= maxShownEdge),
		fits && long <= previewEdge:
		return shown{&mcp.ImageContent{Data: p.Data, MIMEType: p.Format.MIME()}, "shown whole"}
	}
	small, err := preview(p, room)
	if err != nil {
		return shown{how: "not shown: no preview could be made of it"}
	}
	return shown{&mcp.ImageContent{Data: small.Data, MIMEType: small.Format.MIME()}, fmt.Sprintf("shown as a preview of %s", small.Size)}
}

// onWire is how long data is as base64.
func onWire(data []byte) int { return (len(data) + 2) / 3 * 4 }
