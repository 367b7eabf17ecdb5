// Command mcp-files serves the file tools Read, Glob, Grep, List and Stat over MCP.
package main

import (
	"os"

	"github.com/toolhost/toolhost/internal/filetool"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

func main() { os.Exit(toolkit.Main(filetool.App())) }
