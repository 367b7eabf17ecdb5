package toolkit

import (
	"context"
	"fmt"
	"io"
	"log/slog"

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

// A bridge brings the SDK's log into ours. What the SDK calls errors are the clients'
// mistakes, which are answered; they are no news for an operator.
type bridge struct{ slog.Handler }

func newBridge(l zerolog.Logger) *slog.Logger { return slog.New(bridge{zerolog.NewSlogHandler(l)}) }

// Enabled implements [slog.Handler].
func (b bridge) Enabled(ctx context.Context, level slog.Level) bool {
	return b.Handler.Enabled(ctx, min(level, slog.LevelInfo))
}

// Handle implements [slog.Handler].
func (b bridge) Handle(ctx context.Context, r slog.Record) error {
	r.Level = min(r.Level, slog.LevelInfo)
	return b.Handler.Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (b bridge) WithAttrs(attrs []slog.Attr) slog.Handler { return bridge{b.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (b bridge) WithGroup(name string) slog.Handler { return bridge{b.Handler.WithGroup(name)} }
