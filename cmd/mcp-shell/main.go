// Command mcp-shell serves the tools shell and shell_job over MCP.
package main

import (
	"os"

	"github.com/toolhost/toolhost/internal/shelltool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func main() { os.Exit(toolkit.Main(shelltool.App())) }
