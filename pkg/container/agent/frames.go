//go:build linux

package main

import (
	"github.com/toolhost/toolhost/pkg/container/protocol"
)

// frame makes a frame. The headers are our own types, which always encode.
func frame(kind protocol.Kind, id uint64, header any, body ...[]byte) protocol.Frame {
	f, err := protocol.Make(kind, id, header, body...)
	if err != nil {
		complain("%v", err)
	}
	return f
}

// failed makes the answer to a request that was not carried out.
func failed(id uint64, reason protocol.Reason, text string) protocol.Frame {
	return frame(protocol.Failed, id, protocol.Failure{Reason: reason, Text: text})
}
