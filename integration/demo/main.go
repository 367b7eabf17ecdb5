// Command demo builds the servers that exist, starts each over stdio as a client would,
// makes real calls on real input and checks what comes back, and what became of files. It
// works on the tree that it lies in, on a copy of a part of it that it changes, on an awkward
// one that it makes, in containers, and on pictures that are drawn offline. It needs Go, and for mcp-shell a Docker engine, without
// which that server is left out.
//
// Run it with `make demo` at the top of the tree. It exits with 1 if any answer is not as
// it should be.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run() error {
	tree, err := os.Getwd()
	if err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "toolhost-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	fmt.Println("building the servers ...")
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/...")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build the servers: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	awkward, err := awkwardShow(filepath.Join(bin, "awkward"))
	if err != nil {
		return err
	}
	changes, err := changeShows(tree, bin)
	if err != nil {
		return err
	}
	images, err := imageShow(bin)
	if err != nil {
		return err
	}
	shells, err := shellShows(ctx, bin)
	if err != nil {
		return err
	}
	failed := 0
	for _, s := range slices.Concat([]show{filesShow(tree), awkward}, changes, []show{images}, shells) {
		n, err := s.play(ctx, bin)
		if err != nil {
			return fmt.Errorf("%s: %w", s.server, err)
		}
		failed += n
	}
	if failed > 0 {
		return fmt.Errorf("%d answers are not as they should be", failed)
	}
	fmt.Println("\nall answers are as they should be")
	return nil
}

// A show is what the demo does with one server.
type show struct {
	server string // program name
	flags  []string
	calls  []step
	root   string           // where steps look at files; "" if none does
	after  func() (ok bool) // looks at what all calls left; may be nil
}

// A step is one call, what its answer must hold, and what files must hold after it.
type step struct {
	title   string
	tool    string
	args    map[string]any
	want    []string          // parts of the text
	refused bool              // the answer must be an error result
	holds   map[string]string // part of a file below the root, which must not exist if it is ""
}

// play starts the server and makes the calls. It returns how many answers were wrong.
func (s show) play(ctx context.Context, bin string) (wrong int, err error) {
	fmt.Printf("\n== %s %s\n", s.server, strings.Join(s.flags, " "))
	cmd := exec.Command(filepath.Join(bin, s.server), s.flags...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "demo", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		return 0, err
	}
	defer session.Close()
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return 0, err
	}
	var names []string
	for _, t := range tools.Tools {
		names = append(names, t.Name)
	}
	fmt.Printf("it offers: %s\n", strings.Join(names, ", "))
	for _, c := range s.calls {
		ok, err := c.play(ctx, session)
		if err != nil {
			return wrong, err
		}
		if !c.check(s.root) || !ok {
			wrong++
		}
	}
	if s.after != nil && !s.after() {
		wrong++
	}
	return wrong, nil
}

func (c step) play(ctx context.Context, session *mcp.ClientSession) (ok bool, err error) {
	args, err := json.Marshal(c.args)
	if err != nil {
		return false, err
	}
	start := time.Now()
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.tool, Arguments: json.RawMessage(args)})
	if err != nil {
		return false, fmt.Errorf("%s %s: %w", c.tool, args, err)
	}
	took := time.Since(start).Round(100 * time.Microsecond)
	text := textOf(res)
	fmt.Printf("\n-- %s\n   %s %s  (%s)\n%s", c.title, c.tool, args, took, excerpt(text, c.refused))
	ok = res.IsError == c.refused
	if !ok {
		fmt.Printf("   WRONG: isError is %v\n", res.IsError)
	}
	for _, w := range c.want {
		if !strings.Contains(text, w) {
			ok = false
			fmt.Printf("   WRONG: the answer does not hold %q\n", w)
		}
	}
	return ok, nil
}

// check looks at the files that the step names.
func (c step) check(root string) (ok bool) {
	ok = true
	for name, want := range c.holds {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if gone := errors.Is(err, fs.ErrNotExist); gone != (want == "") || !strings.Contains(string(data), want) {
			ok = false
			fmt.Printf("   WRONG: %s should hold %q, and there is %.80q, %v\n", name, want, data, err)
		}
	}
	if ok && len(c.holds) > 0 {
		fmt.Printf("   checked on disk: %s\n", strings.Join(slices.Sorted(maps.Keys(c.holds)), ", "))
	}
	return ok
}

func textOf(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			parts = append(parts, t.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// excerpt returns the first lines of an answer, indented, and its last line; or all of it.
func excerpt(text string, whole bool) string {
	const show = 6
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > show+2 && !whole {
		mark := fmt.Sprintf("... (%d lines more)", len(lines)-show-1)
		lines = append(append(lines[:show:show], mark), lines[len(lines)-1])
	}
	var b strings.Builder
	for _, l := range lines {
		if len(l) > 110 {
			l = l[:110] + "..."
		}
		fmt.Fprintf(&b, "   | %s\n", l)
	}
	return b.String()
}
