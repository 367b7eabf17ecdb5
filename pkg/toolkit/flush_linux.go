package toolkit

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// flushInput drops what was typed at a terminal and not read yet.
func flushInput(terminal any) error {
	f, ok := terminal.(*os.File)
	if !ok {
		return nil
	}
	if err := unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH); err != nil {
		return fmt.Errorf("drop what was typed before: %w", err)
	}
	return nil
}
