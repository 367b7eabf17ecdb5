package shelltool

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// render makes the result of shell. Text and structured form are each complete; the text has
// a share of the budget for each command, the structured form each command's own limit.
func (o *shellOut) render(b toolkit.Budget) toolkit.Result {
	text := o.page().text(b.Text)
	return toolkit.Result{Text: text, Structured: o.structured(b.All - toolkit.WireSize(text)), IsError: o.err != nil}
}

func (o *shellOut) page() page {
	p := page{notes: o.place.notes()}
	total := len(o.entries) + o.notRun
	for i, e := range o.entries {
		b := block{head: e.head(), out: e.Stdout, err: e.Stderr, notes: e.notes(), silent: "no output"}
		if b.quiet = e.Code == 0 && !e.TimedOut && !e.OOM; total > 1 {
			b.head = fmt.Sprintf("command %d of %d: %s", i+1, total, b.head)
		}
		p.blocks = append(p.blocks, b)
	}
	if o.notRun > 0 && o.err == nil {
		p.notes = append([]string{"not run: " + count(o.notRun, "command", "commands") + " after the timeout"}, p.notes...)
	}
	if o.err != nil {
		// What failed comes first, since results of tools begin with what to do next.
		first := fmt.Sprintf("stopped at command %d of %d: %s", len(o.entries)+1, total, toolkit.Inline(o.failure()))
		p.blocks = append([]block{{head: first}}, p.blocks...)
		p.notes = append([]string{fmt.Sprintf("not run to its end: %s", count(o.notRun, "command", "commands"))}, p.notes...)
	}
	return p
}

// failure is what the model may read of what ended the list.
func (o *shellOut) failure() string {
	if o.err == nil {
		return ""
	}
	text, _ := toolkit.VisibleText(o.err)
	return text
}

// head says how a command ended.
func (e entry) head() string {
	if e.TimedOut {
		text := "timed out after " + short(e.timeout) + " and was ended"
		if e.Killed > 0 {
			text += ", " + count(e.Killed, "process", "processes") + " killed"
		}
		return text + ranOutOfMemory(e.OOM)
	}
	text := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		text += " (" + e.Signal + ")"
	}
	const long = time.Second
	if e.Took >= long {
		text += " after " + e.Took.Round(100*time.Millisecond).String()
	}
	return text + ranOutOfMemory(e.OOM)
}

func ranOutOfMemory(oom bool) string {
	if oom {
		return ", the memory limit of the sandbox killed a process"
	}
	return ""
}

// notes are what else there is to know of how a command ended.
func (e entry) notes() (out []string) {
	if e.Left > 0 {
		how := ""
		switch {
		case e.Job != "" && e.jobTool != "":
			how = fmt.Sprintf(` as job %s: %s {"action": "poll", "job_id": %q} reads its output, kill ends it`, e.Job, e.jobTool, e.Job)
		case e.Job != "":
			how = " as job " + e.Job
		}
		out = append(out, fmt.Sprintf("note: %s left running%s", count(e.Left, "process", "processes"), how))
	}
	switch {
	case e.Orphaned && e.TimedOut:
		out = append(out, "note: only killing everything in the sandbox ended it: its output is lost")
	case e.Orphaned && e.OOM:
		out = append(out, "note: the process that watches over it was killed too: its output is lost")
	case e.Orphaned:
		out = append(out, "note: the process that watches over it was killed, by itself or by a command beside it: its output is lost")
	}
	if e.Restarted {
		note := "note: only a restart of the sandbox ended it: all other processes are gone; files stay"
		if e.Emptied {
			note += butElsewhere
		}
		out = append(out, note)
	}
	return out
}

// butElsewhere follows that files stay, where the sandbox had to be made anew.
const butElsewhere = " in roots and mounts only, since it had to be made anew"

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// The structured result: what the Responses API has, and more.
type shellResult struct {
	Output          []commandResult `json:"output"`
	MaxOutputLength *int64          `json:"max_output_length,omitempty"`
	NotRun          int             `json:"not_run,omitempty"`
	Error           string          `json:"error,omitempty"`
	SandboxID       string          `json:"sandbox_id"`
	Restarted       bool            `json:"environment_restarted,omitempty"`
	Backend         string          `json:"backend,omitempty"`
	Note            string          `json:"note,omitempty"`
}

type commandResult struct {
	Stdout        string  `json:"stdout"`
	Stderr        string  `json:"stderr"`
	Outcome       outcome `json:"outcome"`
	DurationMS    int64   `json:"duration_ms"`
	Dir           string  `json:"working_directory"`
	StdoutOmitted int64   `json:"stdout_omitted,omitempty"`
	StderrOmitted int64   `json:"stderr_omitted,omitempty"`
	Signal        string  `json:"signal,omitempty"`
	OOM           bool    `json:"oom,omitempty"`
	Left          int     `json:"left_running,omitempty"`
	Job           string  `json:"job_id,omitempty"`
	Killed        int     `json:"killed,omitempty"`
	Note          string  `json:"note,omitempty"`
}

type outcome struct {
	Type     string `json:"type"` // exit or timeout
	ExitCode *int   `json:"exit_code,omitempty"`
}

// structured returns the structured result in at most room bytes.
func (o *shellOut) structured(room int) shellResult {
	r := shellResult{
		Output: []commandResult{}, MaxOutputLength: o.echo, NotRun: o.notRun, Error: o.failure(),
		SandboxID: o.place.id, Restarted: o.place.changed(), Backend: o.place.special(), Note: o.place.note(),
	}
	texts := make([]capture.Text, 0, 2*len(o.entries))
	for _, e := range o.entries {
		r.Output = append(r.Output, e.structured())
		texts = append(texts, e.Stdout, e.Stderr)
	}
	fitJSON(texts, room-toolkit.WireSize(r))
	for i := range r.Output {
		out, err := texts[2*i], texts[2*i+1]
		c := &r.Output[i]
		c.Stdout, c.StdoutOmitted, c.Stderr, c.StderrOmitted = out.Text, out.Omitted, err.Text, err.Omitted
	}
	return r
}

// note is what the structured form says of the place where a client shows that alone.
func (p place) note() string {
	var out []string
	for _, n := range p.notes() {
		if rest, ok := strings.CutPrefix(n, "note: "); ok {
			out = append(out, rest)
		}
	}
	return strings.Join(out, "; ")
}

// structured is an entry without its output.
func (e entry) structured() commandResult {
	c := commandResult{
		Outcome: outcome{Type: "timeout"}, DurationMS: e.Took.Milliseconds(), Dir: e.Dir,
		Signal: e.Signal, OOM: e.OOM, Left: e.Left, Job: e.Job, Killed: e.Killed,
	}
	if !e.TimedOut {
		code := e.Code
		c.Outcome = outcome{Type: "exit", ExitCode: &code}
	}
	for _, n := range e.notes() {
		c.Note = joined("; ", c.Note, strings.TrimPrefix(n, "note: "))
	}
	return c
}

// fitJSON cuts texts until they take room bytes as JSON, less what warnings and counts may
// take. A control character takes six.
func fitJSON(texts []capture.Text, room int) {
	const margin = 8 << 10
	all := make([]*capture.Text, len(texts))
	for i := range texts {
		all[i] = &texts[i]
	}
	share(all, room-margin, func(s string) int { return toolkit.WireSize(s) })
}
