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
	var seen strings.Builder
	for buf := make([]byte, 4096); !strings.Contains(seen.String(), "end"); {
		n, err := person.Read(buf)
		if err != nil {
			t.Fatal(err)
		}
		seen.Write(buf[:n])
	}
	mustContain(t, seen.String(), `[######..................] 1/4 quarter\x1b[2J`, "tab\there\r\n", `red \x1b[31m`)
}
