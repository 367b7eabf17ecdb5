// Package command understands command lines well enough to hold them against rules: which
// programs a line would run, with which words, and what it would write.
//
// Use: check each [Rule] when it is loaded, then call [Judge] for each call. Denies are searched
// for everywhere, in substitutions, in the words of wrappers such as xargs, in the text that is
// handed to a shell. An allow holds only where the whole line is understood, and every part of it is
// allowed.
//
// It runs nothing, looks up no program, expands no glob, resolves no link, and reads no language but
// that of shells: not what awk, sed, make and Python are told. What programs do once they run, it
// cannot know: `go test` runs whatever the tests say. A command rule is a seat belt; the container is the
// boundary.
package command

// An Effect is what a rule does to the commands that match its pattern; the stricter is the
// smaller, and the zero value denies.
type Effect uint8

// The effects.
const (
	Deny Effect = iota
	Ask
	Allow
)

// A Pattern is the command part of a policy rule.
//
// A deny or ask matches generously: by the base name of the program, options in any order, split,
// merged and abbreviated, also behind operands. An allow matches narrowly: the name without a
// directory, words that the shell takes as they stand. Of a program that runs what its words say, such
// as sh, env or sudo, it matches only with Exact, and neither does it match a find that runs, deletes or writes.
type Pattern struct {
	Argv     [][]string // for each word from the program's name on, its alternatives
	Exact    bool       // no words may follow those of Argv
	FlagsAll [][]string // of each group at least one option must be there
	// None of FlagsNone may be there. An allow is barred by what may be an abbreviation of one, too. A deny or ask is held off
	// only by what is one beyond doubt: not behind --, nor behind an option that may take it for its value.
	FlagsNone []string
	Env       []string // variables that an allow lets be set, besides LANG, LC_ALL, TZ, TERM, NO_COLOR and CI
	// Write holds globs (doublestar) of the paths that an allow lets redirections write. A
	// path is joined to [Input.Dir] and cleaned first; one that has a ".." in it matches none, since where that leads behind
	// a link is not known. Links are not resolved: who can make a link below such a path can write through it.
	Write []string
}

// A Rule is a pattern and what it does.
type Rule struct {
	ID      string
	Effect  Effect
	Pattern Pattern
}

// An Input is what is to be run: each command in a shell of its own.
type Input struct {
	Commands []string
	Dialect  string            // base name of the shell: sh, bash, dash, ash, busybox, zsh ...
	Dir      string            // where they run, absolute; "" makes every relative path one that cannot be known
	Env      map[string]string // set for each of them, as if written in front
	Stdin    *string           // given to each of them, as if by a heredoc; nil gives none
}

// A Match is a rule, and the part of the line that it matched.
type Match struct {
	Rule    string
	Command string // for a person, at most 200 bytes
}

// A Part is one simple command that was found.
type Part struct {
	Argv   []string `json:"argv"`            // "…" stands for a word that is computed when the line runs
	Within string   `json:"within,omitzero"` // what it is inside of, from the outside in, such as "xargs", "$( )", "sh -c"
	Rules  []string `json:"rules,omitzero"`  // ids of those that matched, in order of their names
}

// A Judgement is what rules say to an input. It does not depend on the order of the rules.
type Judgement struct {
	Limit     string   // which limit was reached, "" if none: then nothing else is said, and the input is to be denied
	Denied    []Match  // of deny rules
	Asked     []Match  // of ask rules
	Undecided string   // why it cannot be said what would run; "" where it can
	Allowed   []string // ids of the rules that together allow the whole; nil unless every part is allowed
	Parts     []Part   // each once, as the shell's dialect has them, then what bash finds besides, in order of discovery
}
