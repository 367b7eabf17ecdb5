// Package agents holds the agent, pkg/container/agent, as a program for each architecture
// that containers commonly have.
//
// The programs are committed as the command in build makes them, byte for byte, whoever makes
// them and where; `go generate` does it again. Nothing is unpacked before it is asked for.
package agents

import (
	"bytes"
	"compress/gzip"
	_ "embed" // the programs
	"fmt"
	"io"
)

//go:generate go run ./build

//go:embed agent_linux_amd64.gz
var amd64 []byte

//go:embed agent_linux_arm64.gz
var arm64 []byte

// An Agent is a static Linux program.
type Agent struct {
	Build  string // what it says of itself when greeted: a hash of its sources, toolchain and architecture
	SHA256 string // of the program's bytes, in hex
	Size   int64  // of the program, in bytes
	packed []byte
}

// For returns the agent for an architecture by Go's name for it, if there is one.
func For(goarch string) (Agent, bool) {
	switch goarch {
	case "amd64":
		return Agent{Build: amd64Build, SHA256: amd64SHA256, Size: amd64Size, packed: amd64}, true
	case "arm64":
		return Agent{Build: arm64Build, SHA256: arm64SHA256, Size: arm64Size, packed: arm64}, true
	}
	return Agent{}, false
}

// Bytes unpacks the program.
func (a Agent) Bytes() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(a.packed))
	if err != nil {
		return nil, fmt.Errorf("unpack agent: %w", err)
	}
	program := make([]byte, a.Size)
	if _, err := io.ReadFull(r, program); err != nil {
		return nil, fmt.Errorf("unpack agent: %w", err)
	}
	return program, nil
}
