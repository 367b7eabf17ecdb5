//go:build linux

package filetool_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/testneed"
	"golang.org/x/sys/unix"
)

// TestSpecialFiles is cases 18 and 19: what is no regular file is named and never waited
// for (glm-mcp#15, MemPalace#2221, MagicNet PR 171).
func TestSpecialFiles(t *testing.T) {
	testneed.Root(t)
	d := newHarness(t, map[string]string{"a.txt": "x"})
	must(t, unix.Mkfifo(d.root+"/fifo", 0o644))
	l, err := net.Listen("unix", d.root+"/sock")
	must(t, err)
	defer l.Close()
	device(t, unix.S_IFCHR, d.root+"/chardev", 1, 3)
	device(t, unix.S_IFBLK, d.root+"/loop", 7, 0)
	d.put(t, "zero", "")
	if err := unix.Mount("/dev/zero", d.root+"/zero", "", unix.MS_BIND, ""); err != nil {
		testneed.Missing(t, "mounting", "run the tests with CAP_SYS_ADMIN: "+err.Error())
	}
	t.Cleanup(func() { unix.Unmount(d.root+"/zero", unix.MNT_DETACH) })
	for name, says := range map[string]string{
		"fifo": "named pipe", "sock": "socket", "chardev": "character device", "loop": "block device",
		"zero": "character device",
	} {
		text, res := d.call(t, "Read", args{"file_path": name})
		if !res.IsError || !strings.Contains(text, says) {
			t.Errorf("Read %s: %s", name, text)
		}
		text, res = d.call(t, "Stat", args{"path": name})
		if res.IsError || !strings.Contains(text, "type: "+says) {
			t.Errorf("Stat %s: %s", name, text)
		}
	}
	types := map[string]any{}
	_, res := d.call(t, "List", nil)
	for _, e := range structured(t, res)["entries"].([]any) {
		entry := e.(map[string]any)
		types[entry["path"].(string)] = entry["type"]
	}
	delete(types, "zero") // a directory lists what lies under a mount
	want := map[string]any{
		"a.txt": "regular file", "fifo": "named pipe", "sock": "socket", "chardev": "character device",
		"loop": "block device",
	}
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
}

func device(t *testing.T, kind uint32, path string, major, minor uint32) {
	t.Helper()
	if err := unix.Mknod(path, kind|0o644, int(unix.Mkdev(major, minor))); err != nil {
		testneed.Missing(t, "making devices", "run the tests with CAP_MKNOD: "+err.Error())
	}
}

// TestManyPipes is the second half of case 18: pipes do not use up what other calls need.
func TestManyPipes(t *testing.T) {
	d := newHarness(t, map[string]string{"a.txt": "x"})
	must(t, unix.Mkfifo(d.root+"/fifo", 0o644))
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { d.call(t, "Read", args{"file_path": "fifo"}) })
	}
	if text, _ := d.call(t, "Read", args{"file_path": "a.txt"}); text != "1\tx" {
		t.Errorf("read %q", text)
	}
	wg.Wait()
}

// TestFewDescriptors is case 40: more calls at once than descriptors wait for each other.
func TestFewDescriptors(t *testing.T) {
	d := newHarness(t, map[string]string{"sub/a.txt": "x", "link": "-> $R/sub"})
	var old unix.Rlimit
	must(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	must(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 256, Max: old.Max}))
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
	var wg sync.WaitGroup
	for i := range 2000 {
		path := []string{"sub/a.txt", "link/a.txt"}[i%2]
		wg.Go(func() {
			text, res := d.call(t, "Read", args{"file_path": path})
			if res.IsError || !strings.HasPrefix(text, "1\tx") {
				t.Errorf("read %q", text)
			}
		})
	}
	wg.Wait()
}

// TestProcAsRoot is case 20.
func TestProcAsRoot(t *testing.T) {
	d := &harness{client: start(t, "--root", "/proc")}
	for _, path := range []string{"self/root/etc/passwd", "self/cwd/read_test.go", "self/fd/0", "self/exe"} {
		if text, res := d.call(t, "Read", args{"file_path": path}); !res.IsError {
			t.Errorf("%s: %s", path, text)
		}
	}
	text, res := d.call(t, "Read", args{"file_path": "self/status"})
	if res.IsError || !strings.HasPrefix(text, "1\tName:") || !strings.Contains(text, "through a link") {
		t.Errorf("status: %s", text)
	}
	text, _ = d.call(t, "Read", args{"file_path": "self/status", "offset": -1})
	if !strings.Contains(text, "nonvoluntary_ctxt_switches") {
		t.Errorf("the end of status: %s", text)
	}
}

// TestWaitingFile: a file whose read waits for data holds no call longer than the caller
// does, whichever tool reads it.
func TestWaitingFile(t *testing.T) {
	testneed.Root(t)
	f, err := os.Open("/proc/kmsg")
	if err != nil {
		testneed.Missing(t, "the kernel's log", "run the tests where /proc/kmsg can be read: "+err.Error())
	}
	f.Close()
	d := &harness{client: start(t, "--root", "/proc", "--max-concurrent", "1")}
	for tool, a := range map[string]args{
		"Read": {"file_path": "kmsg"}, "Stat": {"path": "kmsg"},
		"Grep": {"path": "kmsg", "pattern": "no line of it is like this"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		d.client.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: a})
		// The next call waits until this one has ended.
		began := time.Now()
		d.call(t, "Read", args{"file_path": "uptime"})
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("%s held on for %v", tool, took)
		}
	}
}

// TestSwaps is cases 32 and 33 through the tool: while a directory becomes a link to
// outside and a file a pipe, no call shows what lies outside, and none waits.
func TestSwaps(t *testing.T) {
	d := newHarness(t, map[string]string{"d/passwd": "inside", "evil": "-> ../out", "x": "inside", "bad": "-> ../S"})
	must(t, unix.Mkfifo(d.root+"/fifo", 0o644))
	at := func(name string) string { return filepath.Join(d.root, name) }
	exchange := func(a, b string) {
		unix.Renameat2(unix.AT_FDCWD, at(a), unix.AT_FDCWD, at(b), unix.RENAME_EXCHANGE)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				exchange("d", "evil")
				exchange("x", "fifo")
				exchange("x", "bad")
			}
		}
	})
	calls, seen := 0, map[bool]int{}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); calls++ {
		for _, path := range []string{"d/passwd", "x"} {
			text, res := d.call(t, "Read", args{"file_path": path})
			if !res.IsError && !strings.Contains(text, "inside") && !strings.HasPrefix(text, "[") {
				t.Fatalf("%s: %s", path, text)
			}
			seen[res.IsError]++
			text, res = d.call(t, "Stat", args{"path": path})
			itsSize := fmt.Sprintf("size: %d bytes\n", len(secret))
			if !res.IsError && strings.Contains(text, itsSize) && !strings.Contains(text, "type: link") {
				t.Fatalf("%s shows what is outside: %s", path, text)
			}
		}
	}
	close(stop)
	wg.Wait()
	t.Logf("%d rounds, %d reads, %d refusals", calls, seen[false], seen[true])
	if seen[false] == 0 || seen[true] == 0 {
		t.Errorf("the race was never run: %v", seen)
	}
}

// TestRootComesAndGoes is case 17: a server starts without its root, and works when it is
// there.
func TestRootComesAndGoes(t *testing.T) {
	root := filepath.Join(t.TempDir(), "later")
	d := &harness{client: start(t, "--root", root)}
	for range 2 {
		text, res := d.call(t, "Read", args{"file_path": "a.txt"})
		if !res.IsError || !strings.Contains(text, "root directory") || !strings.Contains(text, root) {
			t.Errorf("without the root: %s", text)
		}
		must(t, os.Mkdir(root, 0o755))
		must(t, os.WriteFile(root+"/a.txt", []byte("x"), 0o644))
		if text, res := d.call(t, "Read", args{"file_path": "a.txt"}); res.IsError {
			t.Errorf("with the root: %s", text)
		}
		must(t, os.RemoveAll(root))
	}
}

// TestEscapedNames: what a tool prints of a name finds the file, though no line can hold
// the name itself.
func TestEscapedNames(t *testing.T) {
	d := newHarness(t, map[string]string{
		"sub/a\nb.txt": "newline", "sub/c\u202egpj.txt": "override", "sub/\x1b[2J": "escape",
	})
	t.Run("escaped names come back", func(t *testing.T) {
		text, res := d.call(t, "List", args{"path": "sub"})
		var read []string
		for _, e := range structured(t, res)["entries"].([]any) {
			name := e.(map[string]any)["path"].(string)
			if !strings.Contains(text, strings.TrimPrefix(name, "sub/")) {
				t.Errorf("the text lacks %s: %s", name, text)
			}
			content, _ := d.call(t, "Read", args{"file_path": name})
			first, _, _ := strings.Cut(content, "\n")
			read = append(read, first)
		}
		if diff := cmp.Diff([]string{"1\tescape", "1\tnewline", "1\toverride"}, read); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
