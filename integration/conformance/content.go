package main

import (
	"bytes"
	"image"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func text(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }

// dot is a PNG of one pixel.
func dot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
		panic(err) // memory does not fail, and the image is a good one
	}
	return b.Bytes()
}

func picture() *mcp.ImageContent { return &mcp.ImageContent{Data: dot(), MIMEType: "image/png"} }

// silence is the head of a WAV file, 8 kHz mono in 16 bits, that has no samples.
const silence = "RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00\x02\x00\x10\x00data\x00\x00\x00\x00"

func sound() *mcp.AudioContent {
	return &mcp.AudioContent{Data: []byte(silence), MIMEType: "audio/wav"}
}

func embedded(uri string) *mcp.EmbeddedResource {
	return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
		URI: uri, MIMEType: "text/plain", Text: "an embedded text",
	}}
}
