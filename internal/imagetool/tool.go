package imagetool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// deadline is the last resort for a call; the provider has bounds of its own, below it.
const deadline = 20 * time.Minute

// beat is how often a call that waits says so.
const beat = 4 * time.Second

func (t *toolset) definition() toolkit.Definition {
	what := "Makes pictures from a prompt; with images it edits them, with a mask only a part. "
	if t.sketches() {
		what = "Draws a simple sketch by rule, offline; there is no image model. With images it draws over them. "
	}
	return toolkit.Definition{
		Name: toolName, Title: "Make a picture",
		Description: what + "Each picture is saved; the result names its path and id and shows it, or a preview if it is large. An earlier picture can be an input: image://ID. If a result names a job, collect it by job_id.",
		Params:      params,
		Judged:      []string{inputsSHA256},
		Hints:       toolkit.Hints{NonDestructive: true, ClosedWorld: t.sketches()},
		Effect:      t.effect(),
		Deadline:    deadline,
		Whole:       t.whole,
	}
}

const toolName = "image_generation"

func (t *toolset) addTool(s *toolkit.Server) error {
	return toolkit.Add(s, toolkit.Tool[imageIn, *imagePlan, outcome]{
		Definition: t.definition(), Plan: t.plan, Run: t.run, Render: outcome.render,
	})
}

// effect is what a new picture is to a policy.
func (t *toolset) effect() approval.Effect {
	if t.bought {
		return approval.BuyPictures
	}
	return approval.MakePictures
}

// An order is a request and what is to be done with what comes of it.
type order struct {
	provider.Request
	name     string // of the file
	refs     []string
	maskRef  string // how the pictures and the mask were named
	bought   bool
	warnings []string
}

// An imagePlan is a call whose arguments are sound.
type imagePlan struct {
	call  *toolkit.Call
	form  form
	show  string // as in returns
	job   string // to collect; else there is an order
	order order
	key   key
}

func (t *toolset) plan(ctx context.Context, call *toolkit.Call, in imageIn) (*imagePlan, approval.Action, error) {
	var a approval.Action
	f, err := t.formOf(call)
	if err != nil {
		return nil, a, err
	}
	p := &imagePlan{call: call, form: f, show: in.Return, job: in.JobID}
	if p.job != "" {
		if !idForm.MatchString(p.job) {
			return nil, a, toolkit.Errorf("job_id: got %q, want one as a result named it, such as abcdefghijklmnop", toolkit.Cut(p.job, 160))
		}
		return p, approval.Action{Effect: approval.MakePictures, Summary: "collect picture " + p.job}, nil
	}
	l := &loader{toolset: t, ctx: ctx, call: call}
	p.order, err = t.orderOf(l, in, f)
	a = approval.Action{Summary: p.order.summary(t), Paths: l.paths, Count: max(p.order.N, 1)}
	if err != nil {
		return nil, a, err
	}
	a.Args = p.order.arguments()
	p.key = p.order.key(call.Caller)
	return p, a, nil
}

// orderOf checks the arguments, and loads the pictures when all else is sound.
func (t *toolset) orderOf(l *loader, in imageIn, f form) (o order, err error) {
	refs, mask, err := in.references()
	if err != nil {
		return o, err
	}
	k := check{settings: t.settings, in: in, images: len(refs), mask: mask != ""}
	if f == formOpenAI && in.N != nil && *in.N > 1 {
		one := int64(1)
		k.in.N = &one
		k.warn("n: a gateway takes one picture a call, so 1 was used")
	}
	if err := k.all(); err != nil {
		return o, err
	}
	o = order{Request: k.req, bought: !t.sketches(), warnings: k.warnings, name: fileName(in.FileName), refs: refs, maskRef: mask}
	if o.Images, err = l.images(refs); err != nil {
		return o, err
	}
	if mask != "" {
		o.Mask, err = l.mask(mask, o.Images[0])
	}
	return o, err
}

// arguments are those of the call as they are used: with the operator's options, and moved to
// what the model takes. A policy's conditions see these. Pictures are there as they were named,
// data: URLs by their beginning, and by their hashes.
func (o *order) arguments() json.RawMessage {
	var images []string
	for _, ref := range o.refs {
		images = append(images, asNamed(ref))
	}
	return toolkit.UsedArguments(map[string]any{
		"prompt": o.Prompt, "n": max(o.N, 1), "size": o.Size.String(), "model": o.Model, "quality": o.Quality,
		"background": o.Background, "output_format": o.Format, "output_compression": o.Compression, "moderation": o.Moderation,
		"images": images, "mask": asNamed(o.maskRef), inputsSHA256: o.sums(), "action": o.Action, "partial_images": o.Partials,
		"input_fidelity": o.Fidelity, "complexity": o.Complexity, "frame_count": o.Frames, "seed": o.Seed,
		"negative_prompt": o.Negative, "user": o.User, "file_name": o.name,
	})
}

// inputsSHA256 is where [order.arguments] have the hashes of the pictures that go in.
const inputsSHA256 = "inputs_sha256"

// asNamed returns how a picture was named.
func asNamed(ref string) string {
	if strings.HasPrefix(strings.ToLower(ref), "data:") {
		kind, _, _ := strings.Cut(ref, ",")
		return toolkit.Cut(kind, 80)
	}
	return ref
}

// summary is what a person is asked, where one is.
func (o *order) summary(t *toolset) string {
	who := t.rules.Name()
	if t.host != "" {
		who = o.Model + " at " + t.host
	}
	text := fmt.Sprintf("make %d of size %s by %s", max(o.N, 1), o.Size, who)
	if n := len(o.Images); n > 0 {
		text += fmt.Sprintf(", from %d given", n)
	}
	return text + ": " + toolkit.Inline(toolkit.Cut(o.Prompt, 2000))
}

// sums are the hashes of the pictures that are given, the mask last.
func (o *order) sums() (sums []string) {
	add := func(p provider.Picture) {
		sum := sha256.Sum256(p.Data)
		sums = append(sums, hex.EncodeToString(sum[:]))
	}
	for _, p := range o.Images {
		add(p)
	}
	if o.Mask != nil {
		add(*o.Mask)
	}
	return sums
}

// key of an order of one principal. It is not the session's: a gateway that connects again
// has another one, and asks for the same.
func (o *order) key(who approval.Caller) (k key) {
	plain := *o
	plain.Images, plain.Mask, plain.warnings = nil, nil, nil
	text, err := json.Marshal([]any{who.Transport, who.Principal, plain.Request, plain.name, o.Mask != nil, o.sums()})
	if err != nil { // plain data
		panic(err)
	}
	return sha256.Sum256(text)
}

// run waits for the picture: a new one, or one that is being made already.
func (t *toolset) run(ctx context.Context, p *imagePlan, _ approval.Grant, report toolkit.Progress) (outcome, error) {
	out := outcome{form: p.form, show: p.show, provider: t.rules.Name()}
	var j *job
	if p.job == "" {
		j = t.jobs.join(p.key, p.order, t.make)
	} else if j = t.jobs.take(p.job); j == nil {
		return t.fromStore(p, out)
	}
	out.job, out.order = j.id, j.order
	stop := t.follow(ctx, j, report)
	defer stop()
	select {
	case <-j.done:
	case <-t.patience(p.form):
		t.jobs.leave(j, promised)
		return out, nil
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		why := lost
		if toolkit.Cancelled(ctx) {
			why = cancelled
		}
		t.jobs.leave(j, why)
		return out, context.Cause(ctx)
	}
	p.call.AfterDelivery(func(delivered bool) { t.jobs.leave(j, ended(delivered)) })
	out.made = j.made
	return out, t.visible(j)
}

// patience ends after the soft time-out, if there is one; a gateway cannot come back.
func (t *toolset) patience(f form) <-chan time.Time {
	if t.soft == 0 || f == formOpenAI {
		return nil
	}
	return time.After(t.soft)
}

// follow reports how far a job is, at least each beat, until the function that it returns is
// called.
func (t *toolset) follow(ctx context.Context, j *job, report toolkit.Progress) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(beat)
		defer tick.Stop()
		for {
			text, news := t.jobs.progress(j)
			took := time.Since(j.begun)
			report(took.Seconds(), 0, fmt.Sprintf("%s, %d s", text, int(took.Seconds())))
			select {
			case <-news:
			case <-tick.C:
			case <-j.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// visible returns the error of a job with what the model has to know about its cost.
func (t *toolset) visible(j *job) error {
	var e *provider.Error
	if !errors.As(j.err, &e) || !e.MayHaveRun || !t.bought {
		return j.err
	}
	text, _ := toolkit.VisibleText(j.err)
	return toolkit.Because(j.err, "%s\nThe picture may have been made and paid for; it was not asked for again.", text)
}
