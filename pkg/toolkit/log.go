package toolkit

import (
	"fmt"
	"io"

	"github.com/rs/zerolog"
)

// newLog returns the program's log. It goes to standard error: standard output is the
// protocol's. format is text or json.
func newLog(w io.Writer, level, format string) (zerolog.Logger, error) {
	l, err := zerolog.ParseLevel(level)
	if err != nil || level == "" {
		return zerolog.Nop(), fmt.Errorf("log level %q: want trace, debug, info, warn, error or disabled", level)
	}
	switch format {
	case "json":
	case "text":
		w = zerolog.ConsoleWriter{Out: w, NoColor: true, TimeFormat: "15:04:05.000"}
	default:
		return zerolog.Nop(), fmt.Errorf("log format %q: want text or json", format)
	}
	return zerolog.New(w).Level(l).With().Timestamp().Logger(), nil
}
