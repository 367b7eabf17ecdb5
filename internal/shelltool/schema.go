package shelltool

// shellSchema is what the structured result of shell fits.
const shellSchema = `{
	"type": "object",
	"properties": {
		"output": {"type": "array", "description": "one for each command that ran", "items": {"type": "object", "properties": {
			"stdout": {"type": "string", "description": "cut in the middle where it is long"},
			"stderr": {"type": "string", "description": "the same"},
			"outcome": {"type": "object", "description": "how it ended", "properties": {
				"type": {"type": "string", "description": "timeout has no exit code", "enum": ["exit", "timeout"]},
				"exit_code": {"type": "integer", "description": "128 + n for signal n"}
			}, "required": ["type"]},
			"duration_ms": {"type": "integer", "description": "from start to exit"},
			"working_directory": {"type": "string", "description": "where it ran"},
			"stdout_omitted": {"type": "integer", "description": "characters left out"},
			"stderr_omitted": {"type": "integer", "description": "characters left out"},
			"signal": {"type": "string", "description": "that ended it"},
			"oom": {"type": "boolean", "description": "the memory limit killed a process"},
			"left_running": {"type": "integer", "description": "processes"},
			"job_id": {"type": "string", "description": "of these, for shell_job"},
			"killed": {"type": "integer", "description": "processes, at the timeout"},
			"note": {"type": "string", "description": "what else happened"}
		}, "required": ["stdout", "stderr", "outcome", "duration_ms", "working_directory"]}},
		"max_output_length": {"type": "integer", "description": "as asked for"},
		"not_run": {"type": "integer", "description": "commands that did not run to their end"},
		"error": {"type": "string", "description": "what ended the list"},
		"sandbox_id": {"type": "string", "description": "where they ran"},
		"environment_restarted": {"type": "boolean", "description": "processes of before are gone"},
		"backend": {"type": "string", "description": "exec or local, where it is not the usual one"},
		"note": {"type": "string", "description": "about the sandbox"}
	},
	"required": ["output", "sandbox_id"]
}`
