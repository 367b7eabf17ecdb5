package patchapply

import "io/fs"

// A Patch is what was asked for. Its sections apply in order, each on what the ones before
// it made.
type Patch struct {
	Sections []Section
	Warnings []string // what was peeled off or guessed, each one line
}

// A Kind is what a section does to its file.
type Kind uint8

// The kinds of sections. An Update with MoveTo also moves.
const (
	Add Kind = iota
	Update
	Delete
)

// A Section is about one file. Paths are as they were written.
type Section struct {
	Kind    Kind
	Path    string
	MoveTo  string       // of Update; "" where the file stays
	Content []byte       // of Add
	Hunks   []Hunk       // of Update; none is a pure move, or a change of mode. Of Delete: what the file must hold
	Perm    *fs.FileMode // permission bits that a git diff asks for; nil: as they are
	Line    int          // in the patch, 1-based; 0 where it stands alone
}

// A Hunk replaces some lines by others.
type Hunk struct {
	Anchors   []string // lines before it, each after @@
	Lines     []Line
	EndOfFile bool     // *** End of File: its last old line is the file's last
	Unified   *Numbers // of a unified diff; nil: V4A
	Line      int      // of its first line in the patch, 1-based
}

// Numbers are what @@ -a,b +c,d @@ says. They are hints: b and d are not trusted.
type Numbers struct {
	Old, OldCount, New, NewCount int
	NoNewlineOld, NoNewlineNew   bool // \ No newline at end of file
}

// A Line is one line of a hunk, without its first character and its line end.
type Line struct {
	Op   byte // ' ', '-' or '+'
	Text string
}

// An Operation is a patch as the OpenAI Responses API sends it in apply_patch_call.
type Operation struct {
	Type   string `json:"type"` // create_file, update_file or delete_file
	Path   string `json:"path"`
	Diff   string `json:"diff"`
	MoveTo string `json:"move_to"` // of update_file
}
