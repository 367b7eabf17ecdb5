package command_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/approval/command"
)

// TestOracle lets real shells run generated lines. PATH holds stand-ins only, which say what they were
// called with, and the real wrappers through which an allow passes.
//
// A line that is allowed may run nothing that the judgement did not name, and change no file. A line
// that is clear, so that it would run under a default of allow, may run nothing that is denied. Other
// lines, and the denied ones among them, are not run. Busybox prefers programs of its own, which
// do what they are told, so it gets the allowed lines alone.
func TestOracle(t *testing.T) {
	tests := []struct {
		dialect string
		argv    []string // of the shell, up to the line
	}{
		{"bash", []string{testneed.Tool(t, "bash"), "--norc", "-c"}},
		{"dash", []string{testneed.Tool(t, "dash"), "-c"}},
		{"ash", []string{testneed.Tool(t, "busybox"), "ash", "-c"}},
	}
	bin := standIns(t)
	for i, tt := range tests {
		t.Run(tt.dialect, func(t *testing.T) {
			lines, allowed := runnable(newGenerator(uint64(100+i)), tt.dialect)
			t.Logf("of %d lines %d are run, of which %d are allowed", perShell, len(lines), allowed)
			if allowed < perShell/10 || len(lines) < perShell/10 {
				t.Error("these are too few")
			}
			o := oracle{argv: tt.argv, dialect: tt.dialect, bin: bin}
			o.run(t, lines)
		})
	}
}

// runnable returns lines that are clear, and how many of them are allowed.
func runnable(g generator, dialect string) (lines []string, allowed int) {
	for range perShell {
		line := g.line()
		if dialect == "ash" && strings.Contains(line, "timeout") {
			continue // that of busybox looks once in a second whether the command has ended
		}
		decision, j := judge(dialect, line)
		if decision == "allow" {
			allowed++
		}
		if decision == "allow" || decision == "ask" && j.Undecided == "" && dialect != "ash" {
			lines = append(lines, line)
		}
	}
	return lines, allowed
}

// standIns makes the directory that is PATH. A stand-in writes a line to descriptor 9: its name and its words, each in
// brackets, newlines as spaces.
func standIns(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	script := "#!" + testneed.Tool(t, "dash") + "\n" + `n=${0##*/}; for a; do n="$n]["$a; done; printf '[%s]\000' "$n" >&9` + "\n"
	for _, name := range []string{"ls", "cat", "git", "go", "curl", "rm", "vi", "xargs", "sudo", "sh", "a", "b", "f", "E", "x", "text"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"timeout", "nice", "nohup", "env", "dash"} {
		if err := os.Symlink(testneed.Tool(t, name), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	// The shells have it as a keyword, or as a program that nobody installs.
	if err := os.WriteFile(filepath.Join(bin, "time"), []byte("#!"+testneed.Tool(t, "dash")+"\n[ \"$1\" != -p ] || shift\n\"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return bin
}

type oracle struct {
	argv    []string
	dialect string
	bin     string
}

// run runs lines in several shells at once, each in a directory of its own.
func (o oracle) run(t *testing.T, lines []string) {
	next := make(chan string)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		dir := t.TempDir()
		wg.Go(func() {
			for line := range next {
				plant(t, dir)
				o.check(t, dir, line)
			}
		})
	}
	for _, line := range lines {
		next <- line
	}
	close(next)
	wg.Wait()
}

// planted are the files in the directory of a shell.
var planted = map[string]string{"a": "content", "b": "", "x.go": "package x\n", "aa": "1"}

// plant makes dir hold them and nothing else.
func plant(t *testing.T, dir string) {
	now := content(t, dir)
	for name := range now {
		if _, ok := planted[name]; !ok {
			os.RemoveAll(filepath.Join(dir, name))
		}
	}
	for name, content := range planted {
		if now[name] != content || content == "" {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Error(err)
			}
		}
	}
}

func (o oracle) check(t *testing.T, dir, line string) {
	decision, j := judge(o.dialect, line)
	ran, err := o.shell(dir, line)
	if err != nil {
		t.Errorf("%q: %v", line, err)
	}
	for _, call := range ran {
		if onDenyList(strings.Split(call, "][")) {
			t.Errorf("%s runs [%s] for %q, which is clear: %+v", o.dialect, call, line, j)
		}
		if decision != "allow" {
			continue
		}
		if !slices.ContainsFunc(j.Parts, func(p command.Part) bool { return strings.Join(p.Argv, "][") == call }) {
			t.Errorf("%s runs [%s] for %q, of which the judgement says %+v", o.dialect, call, line, j.Parts)
		}
		if !onAllowList(strings.Split(call, "][")) {
			t.Errorf("%s runs [%s] for %q, which is not allowed", o.dialect, call, line)
		}
	}
	if diff := cmp.Diff(planted, content(t, dir)); diff != "" && decision == "allow" {
		t.Errorf("%s changed files for %q:\n%s", o.dialect, line, diff)
	}
}

// shell runs a line and waits for all that it started. It returns the calls of stand-ins.
func (o oracle) shell(dir, line string) (calls []string, err error) {
	log, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer log.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.argv[0], append(o.argv[1:], line)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + o.bin, "HOME=" + dir, "x=curl"}
	cmd.ExtraFiles = make([]*os.File, 7)
	cmd.ExtraFiles[6] = w
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(log) // until the last descendant ends
	cmd.Wait()                  // with any status
	if err == nil {
		err = ctx.Err()
	}
	for _, call := range strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if call != "" {
			calls = append(calls, strings.TrimSuffix(strings.TrimPrefix(call, "["), "]"))
		}
	}
	return calls, err
}

// onAllowList says by itself what the sample allows.
func onAllowList(argv []string) bool {
	options := strings.Join(argv, " ")
	switch {
	case argv[0] == "ls" || argv[0] == "cat":
		return true
	case argv[0] == "git" && len(argv) > 1 && (argv[1] == "status" || argv[1] == "diff"):
		return !strings.Contains(options, " --ext-diff") && !strings.Contains(options, " --output")
	case argv[0] == "go" && len(argv) > 1 && argv[1] == "test":
		return !strings.Contains(options, " -exec") && !strings.Contains(options, " -o")
	}
	return false
}

// onDenyList says by itself what the sample denies.
func onDenyList(argv []string) bool {
	switch argv[0] {
	case "curl":
		return true
	case "rm":
		return slices.Contains(argv, "-rf") || slices.Contains(argv, "-r") && slices.Contains(argv, "-f")
	case "git":
		return len(argv) > 1 && argv[1] == "push" || len(argv) > 3 && argv[1] == "-C" && argv[3] == "push"
	}
	return false
}

// content returns the files of a directory.
func content(t *testing.T, dir string) map[string]string {
	files := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		files[e.Name()] = string(data)
		if err != nil {
			files[e.Name()] = fmt.Sprint(err)
		}
	}
	return files
}
