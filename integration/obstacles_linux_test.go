package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/testneed"
)

// This file is what the system refuses in the middle of a change: all is put back, and the
// model learns which file it was, and why.

// An obstacle is a change that the system does not let happen.
type obstacle struct {
	name string
	tool string // apply_patch is mcp-patch's, the others are mcp-files'
	args string
	file string // that the answer must name
	why  string
}

func patching(name, file, why string, lines ...string) obstacle {
	patch := "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"
	return obstacle{name, "apply_patch", fmt.Sprintf(`{"patch":%s}`, marshal(patch)), file, why}
}

// A writers is a server of each program, by the name of the tool that is called.
type writers map[string]*server

func startWriters(t *testing.T, root, state string, as *syscall.SysProcAttr) writers {
	t.Helper()
	launch := func(folder string, flags ...string) *server {
		cmd := exec.Command(binary(t, folder), append(flags, "--root", root, "--state-dir", state)...)
		cmd.SysProcAttr = as
		return startCommand(t, modern, cmd)
	}
	files := launch("cmd/mcp-files", "--write")
	return writers{"apply_patch": launch("cmd/mcp-patch"), "Write": files, "Edit": files}
}

// meet makes the call, which must be refused and leave the tree as it was.
func (w writers) meet(t *testing.T, id int, o obstacle, root, state string) {
	t.Helper()
	before := picture(t, root)
	w[o.tool].send(modern.call(id, o.tool, o.args))
	m := w[o.tool].answer(id)
	text := m.text()
	if m.Result == nil || !m.Result.IsError {
		t.Errorf("it was done: %+v %s", m.Error, text)
	}
	want := []string{o.file, o.why}
	if o.tool == "apply_patch" {
		want = append(want, "No files were changed.")
		if !strings.HasPrefix(text, "io_error: ") {
			t.Errorf("no class: %s", text)
		}
	} else {
		want = append(want, "nothing was changed")
	}
	for _, part := range want {
		if !strings.Contains(text, part) {
			t.Errorf("the answer does not hold %q: %s", part, text)
		}
	}
	looks(t, root, before)
	settled(t, state)
}

// does makes a call that must succeed.
func (w writers) does(t *testing.T, id int, o obstacle) {
	t.Helper()
	w[o.tool].send(modern.call(id, o.tool, o.args))
	if m := w[o.tool].answer(id); m.Result == nil || m.Result.IsError {
		t.Errorf("%s: %+v %s", o.name, m.Error, m.text())
	}
}

// Others come first in a patch, so that there is something to put back.
var firstLines = []string{
	"*** Update File: open/a.txt", "@@", "-a", "+A",
	"*** Add File: open/new/dir/x.txt", "+x",
	"*** Update File: open/m.txt", "*** Move to: open/moved.txt", "@@", "-m", "+M",
	"*** Delete File: open/d.txt",
}

func after(lines ...string) []string {
	return append(firstLines[:len(firstLines):len(firstLines)], lines...)
}

var openFiles = map[string]string{"open/a.txt": "a\n", "open/m.txt": "m\n", "open/d.txt": "d\n"}

// A disk fills up: while new files are written beside the old ones, and while one is written
// in place, since it has two names.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	testneed.Root(t)
	root, state := t.TempDir(), t.TempDir()
	if err := syscall.Mount("none", root, "tmpfs", 0, "size=256k"); err != nil {
		testneed.Missing(t, "mounting", "run the tests with CAP_SYS_ADMIN: "+err.Error())
	}
	t.Cleanup(func() { syscall.Unmount(root, syscall.MNT_DETACH) })
	plant(t, root, openFiles)
	plant(t, root, map[string]string{"two/names.txt": "one\n", "run.sh": "x\n"})
	for _, err := range []error{
		os.Link(filepath.Join(root, "two/names.txt"), filepath.Join(root, "two/again.txt")),
		os.Chmod(filepath.Join(root, "run.sh"), 0o750), os.Chmod(filepath.Join(root, "open/d.txt"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	const full = "no space left on device"
	long := strings.Repeat("long ", 80<<10)
	w := startWriters(t, root, state, nil)
	for i, o := range []obstacle{
		patching("last file is new", "big.txt", full, after("*** Add File: big.txt", "+"+long)...),
		patching("last file is updated", "run.sh", full, after("*** Update File: run.sh", "@@", "-x", "+"+long)...),
		patching("last file has two names", "two/names.txt", full, after("*** Update File: two/names.txt", "@@", " one", "+"+long)...),
		{"new file", "Write", fmt.Sprintf(`{"file_path":"n/big.txt","content":%q}`, long), "n/big.txt", full},
		{"replaced file", "Write", fmt.Sprintf(`{"file_path":"run.sh","content":%q}`, long), "run.sh", full},
		{"edited file", "Edit", fmt.Sprintf(`{"file_path":"run.sh","old_string":"x","new_string":%q}`, long), "run.sh", full},
		{"edited file with two names", "Edit", fmt.Sprintf(`{"file_path":"two/names.txt","old_string":"one","new_string":%q}`, long), "two/names.txt", full},
	} {
		t.Run(o.name, func(t *testing.T) { w.meet(t, i, o, root, state) })
	}
	w.does(t, 100, patching("a patch that fits", "", "", firstLines...))
	w.does(t, 101, obstacle{name: "an edit that fits", tool: "Edit", args: `{"file_path":"run.sh","old_string":"x","new_string":"y"}`})
}

// Somebody may write only a part of what they change.
func TestForbiddenDirectory(t *testing.T) {
	t.Parallel()
	testneed.Root(t)
	const nobody = 65534
	top := t.TempDir()
	root, state := filepath.Join(top, "root"), filepath.Join(top, "state")
	plant(t, root, openFiles)
	plant(t, root, map[string]string{"shut/b.txt": "b\n", "sticky/c.txt": "c\n"})
	var errs []error
	for path, mode := range map[string]os.FileMode{ // programs and files are below directories that only root may enter
		binDir: 0o755, binary(t, "cmd/mcp-files"): 0o755, binary(t, "cmd/mcp-patch"): 0o755,
		filepath.Dir(top): 0o755, top: 0o755, root: 0o755,
		filepath.Join(root, "shut"): 0o755, filepath.Join(root, "shut/b.txt"): 0o644,
		filepath.Join(root, "sticky"): 0o777 | os.ModeSticky, filepath.Join(root, "sticky/c.txt"): 0o666,
		filepath.Join(root, "open/d.txt"): 0o600,
	} {
		errs = append(errs, os.Chmod(path, mode))
	}
	errs = append(errs, os.Mkdir(state, 0o700))
	for _, path := range []string{state, root + "/open", root + "/open/a.txt", root + "/open/m.txt", root + "/open/d.txt"} {
		errs = append(errs, os.Chown(path, nobody, nobody))
	}
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	w := startWriters(t, root, state, &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}})
	const denied = "permission denied"
	for i, o := range []obstacle{
		patching("last file is new", "shut/new.txt", denied, after("*** Add File: shut/new.txt", "+x")...),
		patching("last directory is new", "shut/dir", denied, after("*** Add File: shut/dir/new.txt", "+x")...),
		patching("last file is updated", "shut/b.txt", denied, after("*** Update File: shut/b.txt", "@@", "-b", "+B")...),
		patching("last file is removed", "shut/b.txt", denied, after("*** Delete File: shut/b.txt")...),
		patching("last file is moved", "shut/b.txt", denied, after("*** Update File: shut/b.txt", "*** Move to: open/b.txt")...),
		patching("last file is another's", "sticky/c.txt", "operation not permitted", after("*** Delete File: sticky/c.txt")...),
		{"new file", "Write", `{"file_path":"shut/new.txt","content":"x"}`, "shut/new.txt", denied},
		{"new directory", "Write", `{"file_path":"shut/dir/new.txt","content":"x"}`, "shut/dir", denied},
		{"replaced file", "Write", `{"file_path":"shut/b.txt","content":"x"}`, "shut/b.txt", denied},
		{"edited file", "Edit", `{"file_path":"shut/b.txt","old_string":"b","new_string":"B"}`, "shut/b.txt", denied},
	} {
		t.Run(o.name, func(t *testing.T) { w.meet(t, i, o, root, state) })
	}
	w.does(t, 100, patching("a patch of what is theirs", "", "", firstLines...))
	w.does(t, 101, obstacle{name: "an edit of what is theirs", tool: "Edit", args: `{"file_path":"open/a.txt","old_string":"A","new_string":"B"}`})
}
