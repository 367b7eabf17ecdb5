package filetool

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/filetool/search"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// thousands writes n with commas.
func thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes how many there are of something.
func plural[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many(one)
}

// many is the plural of a noun. A y at its end stands behind a consonant.
func many(one string) string {
	if stem, ok := strings.CutSuffix(one, "y"); ok {
		return stem + "ies"
	}
	return one + "s"
}

// showCR makes each CR visible that is not part of a line's end: a terminal goes back to
// the start of the line for it, where the text behind could pass for a line of its own.
func showCR(text string) string { return strings.ReplaceAll(text, "\r", `\r`) }

func isOrAre(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// byteSize writes a size for a reader: 512 bytes, 1.2 KB, 107.0 MB.
func byteSize(n int64) string {
	if n < 1000 {
		return plural(n, "byte")
	}
	size, unit := float64(n)/1000, "KB"
	for _, next := range []string{"MB", "GB", "TB"} {
		if size < 999.95 {
			break
		}
		size, unit = size/1000, next
	}
	return fmt.Sprintf("%.1f %s", size, unit)
}

// modeOf returns what the engine knows of a type, in the system's form. It does not know
// which kind of device one is.
func modeOf(k search.Kind) fs.FileMode {
	switch k {
	case search.Dir:
		return fs.ModeDir
	case search.Link:
		return fs.ModeSymlink
	case search.Pipe:
		return fs.ModeNamedPipe
	case search.Socket:
		return fs.ModeSocket
	case search.Device:
		return fs.ModeDevice
	}
	return 0
}

// typeMark is what stands behind the name of an entry by its type.
func typeMark(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "/"
	}
	return " (" + fsroot.TypeName(mode) + ")"
}
