// Command mcp-patch serves the tool apply_patch over MCP.
package main

import (
	"os"

	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func main() { os.Exit(toolkit.Main(patchtool.App())) }
