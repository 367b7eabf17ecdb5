package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
)

// shellShows let mcp-shell run commands in a container. There are none where a first command cannot
// be run for want of an engine or an image; what mcp-shell has to say of that is printed. Where the
// engine has an image that `make images` makes, nothing is wanting.
func shellShows(ctx context.Context, bin string) ([]show, error) {
	image := testImage(ctx)
	if image == "" {
		return anyImage(ctx, bin)
	}
	root := filepath.Join(bin, "sandboxed")
	if err := os.Mkdir(root, 0o755); err != nil {
		return nil, err
	}
	flags := []string{"--image", image, "--pull", "never"}
	return []show{
		{server: "mcp-shell", flags: flags, calls: shellSteps()},
		{server: "mcp-shell", flags: append(flags, "--root", root), root: root, calls: rootSteps()},
	}, nil
}

// anyImage asks mcp-shell for what it has by itself: any engine, and its default image.
func anyImage(ctx context.Context, bin string) ([]show, error) {
	fmt.Println("\n== mcp-shell: is there an engine, and an image?")
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "mcp-shell"), "--pull-timeout", "2m", "call", "shell", `{"commands":["true"]}`)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if err != nil {
		fmt.Printf("%s   so mcp-shell is left out\n", excerpt(string(out), true))
		return nil, nil
	}
	return []show{{server: "mcp-shell", calls: shellSteps()}}, nil
}

// testImage returns an image of ours that the engine has, or "".
func testImage(ctx context.Context) string {
	api, err := engineapi.New(engineapi.Host())
	if err != nil {
		return ""
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, image := range []string{"toolhost-test/debian", "toolhost-test/busybox"} {
		if has, err := api.HasImage(ctx, image); err == nil && has {
			return image
		}
	}
	return ""
}

// commands are arguments of shell.
func commands(lines ...string) map[string]any {
	return map[string]any{"commands": append([]string{}, lines...)}
}

func shellSteps() []step {
	return []step{
		{
			title: "two commands: the first makes the sandbox; files stay, exit codes are told", tool: "shell",
			args: commands("echo hello > greeting.txt", "cat greeting.txt; ls /nowhere"),
			want: []string{"hello\n", "/nowhere", "exit code "},
		},
		{
			title: "the next costs milliseconds", tool: "shell",
			args: commands("cat greeting.txt"),
			want: []string{"hello"},
		},
		{
			title: "what may it do there? nothing that needs a capability, and no network", tool: "shell",
			args: commands("grep CapEff /proc/self/status", "ls /sys/class/net"),
			want: []string{"CapEff:\t0000000000000000\n", "\nlo"},
		},
		{
			title: "a timeout ends everything, also what detached itself", tool: "shell",
			args: map[string]any{"commands": []string{"echo begun; setsid sleep 60 & sleep 60"}, "timeout_ms": 500},
			want: []string{"begun", "timed out after 500ms"},
		},
		{
			title: "is any of it left?", tool: "shell",
			args: commands("cat /proc/[0-9]*/comm | grep -c sleep"),
			want: []string{"exit code 1", "\n0"},
		},
		{
			title: "much output: head and tail come, and how much is missing", tool: "shell",
			args: map[string]any{"commands": []string{"seq 1000000"}, "max_output_length": 200},
			want: []string{"1\n2\n3\n", " characters omitted ", "\n1000000"},
		},
		{
			title: "a command that leaves something running", tool: "shell",
			args: commands("(sleep 1; echo done) & echo started"),
			want: []string{"started", " left running as job "},
		},
		{
			title: "nothing to run", tool: "shell", refused: true,
			args: commands(),
			want: []string{"commands"},
		},
		{
			title: "a new beginning", tool: "shell_job",
			args: map[string]any{"action": "restart"},
			want: []string{"restarted"},
		},
	}
}

func rootSteps() []step {
	return []step{
		{
			title: "with a root: it is the working directory, and what is written there stays", tool: "shell",
			args:  commands("pwd; echo written inside > inside.txt"),
			want:  []string{"/data"},
			holds: map[string]string{"inside.txt": "written inside\n"},
		},
		{
			title: "read from standard input", tool: "shell",
			args:  map[string]any{"commands": []string{"sort > sorted.txt; wc -l < sorted.txt"}, "stdin": "b\na\n"},
			want:  []string{"2"},
			holds: map[string]string{"sorted.txt": "a\nb\n"},
		},
	}
}
