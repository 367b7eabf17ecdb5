package shelltool

import (
	"context"

	"github.com/toolhost/toolhost/pkg/container"
	"github.com/toolhost/toolhost/pkg/container/capture"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// An Engine is what tests put in the place of a container engine.
type Engine = engine

// AppWith returns mcp-shell with an engine found by find.
func AppWith(find func(context.Context, container.EngineOptions) (Engine, error)) toolkit.App {
	return app(find)
}

// Level is what tests call by itself.
var Level = level

// Share cuts texts as results are cut.
func Share(texts []*capture.Text, room int) { share(texts, room, func(s string) int { return len(s) }) }
