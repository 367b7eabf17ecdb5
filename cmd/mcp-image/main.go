// Command mcp-image serves the tool image_generation over MCP.
package main

import (
	"os"

	"github.com/toolhost/toolhost/internal/imagetool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func main() { os.Exit(toolkit.Main(imagetool.App())) }
