package shelltool

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// jobSchema is what the structured result of shell_job fits.
const jobSchema = `{
	"type": "object",
	"properties": {
		"action": {"type": "string", "description": "as asked for"},
		"sandbox_id": {"type": "string", "description": "absent where there is none yet"},
		"jobs": {"type": "array", "description": "of list", "items": {"type": "object", "properties": {
			"job_id": {"type": "string", "description": "for poll and kill"},
			"command": {"type": "string", "description": "that left it running"},
			"processes": {"type": "integer", "description": "0 once all have ended"},
			"age_ms": {"type": "integer", "description": "since the command began"}
		}, "required": ["job_id", "command", "processes", "age_ms"]}},
		"job": {"type": "object", "description": "of poll and kill", "properties": {
			"job_id": {"type": "string", "description": "as asked for"},
			"processes": {"type": "integer", "description": "0 once all have ended"},
			"stdout": {"type": "string", "description": "since the last time"},
			"stderr": {"type": "string", "description": "since the last time"},
			"stdout_omitted": {"type": "integer", "description": "characters left out"},
			"stderr_omitted": {"type": "integer", "description": "characters left out"},
			"killed": {"type": "integer", "description": "processes"},
			"oom": {"type": "boolean", "description": "the memory limit killed a process"}
		}, "required": ["job_id", "processes", "stdout", "stderr"]},
		"status": {"type": "object", "description": "of status: facts about the sandbox by name"},
		"environment_restarted": {"type": "boolean", "description": "processes of before are gone"},
		"note": {"type": "string", "description": "about the sandbox"}
	},
	"required": ["action"]
}`

type jobResult struct {
	Action    string     `json:"action"`
	SandboxID string     `json:"sandbox_id,omitempty"`
	Jobs      *[]jobLine `json:"jobs,omitempty"`
	Job       *jobState  `json:"job,omitempty"`
	Status    *status    `json:"status,omitempty"`
	Restarted bool       `json:"environment_restarted,omitempty"`
	Note      string     `json:"note,omitempty"`
}

type jobLine struct {
	ID        string `json:"job_id"`
	Command   string `json:"command"`
	Processes int    `json:"processes"`
	AgeMS     int64  `json:"age_ms"`
}

type jobState struct {
	ID            string `json:"job_id"`
	Processes     int    `json:"processes"`
	Stdout        string `json:"stdout"`
	Stderr        string `json:"stderr"`
	StdoutOmitted int64  `json:"stdout_omitted,omitempty"`
	StderrOmitted int64  `json:"stderr_omitted,omitempty"`
	Killed        int    `json:"killed,omitempty"`
	OOM           bool   `json:"oom,omitempty"`
}

func (o *jobOut) render(b toolkit.Budget) toolkit.Result {
	r := jobResult{
		Action: o.action, SandboxID: o.place.id, Restarted: o.place.changed(), Status: o.status,
		Note: joined("; ", o.none, o.place.note()),
	}
	var text string
	switch o.action {
	case listJobs:
		r.Jobs = &[]jobLine{}
		text = o.list(&r, b.Text)
	case pollJob, killJob:
		text = o.page().text(b.Text)
		r.Job = o.job(b.All - toolkit.WireSize(text) - toolkit.WireSize(r))
	case restart:
		text = "the sandbox was restarted: all processes have ended; files stay"
		if o.emptied {
			text += butElsewhere
		}
	case getStatus:
		text = o.status.text()
	}
	if o.action != pollJob && o.action != killJob {
		lines := append([]string{o.none, text}, o.place.notes()...)
		if o.none != "" && o.action == restart {
			lines[1] = "" // nothing was there to restart
		}
		text = joined("\n", lines...)
	}
	return toolkit.Result{Text: text, Structured: r}
}

// list makes a line of each job, as far as that fits, and enters it into r.
func (o *jobOut) list(r *jobResult, limit int) string {
	if len(o.jobs) == 0 {
		if o.none != "" {
			return ""
		}
		return "no job is running"
	}
	const room = 500 // for notes
	var lines []string
	size := 0
	for i, j := range o.jobs {
		age := time.Since(j.Started)
		command := inlined(textOf(j.Argv, o.shell))
		line := fmt.Sprintf("job %s: %s, begun %s ago: %s", toolkit.Inline(j.ID), count(j.Alive, "process", "processes"), age.Round(100*time.Millisecond), command)
		if size += len(line) + 1; size > limit-room {
			lines = append(lines, fmt.Sprintf("[cut: %d of %d jobs are shown]", i, len(o.jobs)))
			break
		}
		lines = append(lines, line)
		*r.Jobs = append(*r.Jobs, jobLine{ID: j.ID, Command: command, Processes: j.Alive, AgeMS: age.Milliseconds()})
	}
	return strings.Join(lines, "\n")
}

// page is the text of poll and kill.
func (o *jobOut) page() page {
	s := o.state
	head := "job " + toolkit.Inline(s.ID) + ": " + count(s.Alive, "process", "processes") + " running"
	switch {
	case o.action == killJob:
		head = fmt.Sprintf("job %s: ended, %s killed", toolkit.Inline(s.ID), count(s.Killed, "process", "processes"))
	case s.Alive == 0:
		head = "job " + toolkit.Inline(s.ID) + ": ended"
	}
	return page{
		blocks: []block{{head: head + ranOutOfMemory(s.OOM), out: s.Stdout, err: s.Stderr, silent: "no output since the last time"}},
		notes:  o.place.notes(),
	}
}

// job is the structured form of poll and kill, in at most room bytes.
func (o *jobOut) job(room int) *jobState {
	s := o.state
	j := jobState{ID: s.ID, Processes: s.Alive, Killed: s.Killed, OOM: s.OOM}
	texts := []capture.Text{s.Stdout, s.Stderr}
	fitJSON(texts, room-toolkit.WireSize(j))
	j.Stdout, j.StdoutOmitted, j.Stderr, j.StderrOmitted = texts[0].Text, texts[0].Omitted, texts[1].Text, texts[1].Omitted
	return &j
}
