package toolkit_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

// terminal returns both ends of a new pseudo-terminal.
func terminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	if err := unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { program.Close() })
	return person, program
}

// A person sees how far a call is, and nothing that a file holds steers the terminal.
func TestCallOnATerminal(t *testing.T) {
	person, program := terminal(t)
	a := app()
	a.Setup = func(_ *cli.Context, s *toolkit.Server) error {
		return toolkit.Add(s, probe(func(_ context.Context, _ kitchen, _ approval.Grant, report toolkit.Progress) (string, error) {
			report(1, 4, "quarter\x1b[2J")
			time.Sleep(100 * time.Millisecond)
			return "tab\there\nred \x1b[31m", nil
		}))
	}
	code := a.Run(t.Context(), []string{"call", "probe", "name=n"}, toolkit.Streams{In: program, Out: program, Err: program})
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	fmt.Fprintln(program, "end")
	mustContain(t, readUntil(t, person, "end"), `[######..................] 1/4 quarter\x1b[2J`, "tab\there\r\n", `red \x1b[31m`)
}

// readUntil reads what a program writes to a terminal, until the word comes.
func readUntil(t *testing.T, person *os.File, word string) string {
	t.Helper()
	var seen strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(seen.String(), word); {
		n, err := person.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(buf[:n])
	}
	return seen.String()
}

// On a terminal the person there is asked, and types the answer.
func TestCallAsksOnATerminal(t *testing.T) {
	tests := []struct {
		name, before, typed string // before the question, and as the answer
		code                int
		want                string
	}{
		{"yes", "", "y\n", 0, `{"name":"n"`},
		{"YES", "", " YES \n", 0, `{"name":"n"`},
		{"no", "", "n\n", 1, "did not approve"},
		{"nothing", "", "\n", 1, "did not approve"},
		{"something else", "", "yes please\n", 1, "did not approve"},
		{"end of input", "", "\x04", 1, "no decision"},
		{"yes before the question", "y\n", "n\n", 1, "did not approve"},
		{"much before the question", "n\ny\ny\n", "\n", 1, "did not approve"},
		{"half a line before the question", "y", "\n", 1, "did not approve"},
		{"no before the question", "n\n", "y\n", 0, `{"name":"n"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			person, program := terminal(t)
			if tt.before != "" { // it is there once it is echoed
				fmt.Fprint(person, tt.before)
				readUntil(t, person, strings.ReplaceAll(tt.before, "\n", "\r\n"))
			}
			code := make(chan int, 1)
			go func() {
				streams := toolkit.Streams{In: program, Out: program, Err: program}
				code <- app().Run(t.Context(), []string{"--require-approval", "always", "call", "probe", "name=n"}, streams)
				fmt.Fprintln(program, "end")
			}()
			mustContain(t, readUntil(t, person, "[y/N]"), "May this run? probe (read files)", `{"name":"n"}`, "asked by: local over stdio", "rule: require-approval")
			fmt.Fprint(person, tt.typed)
			mustContain(t, readUntil(t, person, "end"), tt.want)
			if got := <-code; got != tt.code {
				t.Errorf("exit code %d", got)
			}
		})
	}
}

// What is piped in is no person's answer: the call is refused, at once.
func TestCallWithoutATerminalIsUnattended(t *testing.T) {
	_, program := terminal(t)
	for name, streams := range map[string]toolkit.Streams{
		"input":  {In: strings.NewReader("y\n"), Out: program, Err: program},
		"errors": {In: program, Out: program, Err: new(strings.Builder)},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			streams.Out = &out
			code := app().Run(t.Context(), []string{"--require-approval", "always", "call", "probe", "name=n"}, streams)
			mustContain(t, out.String(), "this client cannot be asked (it does not declare elicitation)", "start the server without --require-approval always")
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
