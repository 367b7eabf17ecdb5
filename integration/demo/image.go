package main

import (
	"fmt"
	"image"
	_ "image/png" // what is looked at is one
	"os"
	"path/filepath"
)

// imageShow lets mcp-image draw without a key and without a network. The pictures stay where
// the demo says, to be looked at.
func imageShow(bin string) (show, error) {
	out, err := os.MkdirTemp("", "toolhost-pictures-")
	if err != nil {
		return show{}, err
	}
	return show{
		server: "mcp-image",
		flags:  []string{"--provider", "sketch", "--output-dir", out, "--root", bin},
		after:  func() bool { return lookAt(out, 2) },
		calls: []step{
			{
				title: "a picture, made offline", tool: "image_generation",
				args: map[string]any{"prompt": "a red boat on a lake at dawn", "size": "1024x768", "file_name": "boat"},
				want: []string{"Made 1 picture with sketch", "1024x768 png", "saved as " + out, "offline sketch"},
			},
			{
				title: "one that is too large to be shown whole", tool: "image_generation",
				args: map[string]any{"prompt": "a city at night", "size": "3840x2160", "quality": "hd"},
				want: []string{"3840x2160 png", "shown as a preview of 1024x576"},
			},
			{
				title: "a size that no model makes", tool: "image_generation", refused: true,
				args: map[string]any{"prompt": "a city at night", "size": "huge"},
				want: []string{`size: got "huge", want WIDTHxHEIGHT`, "Nothing was sent"},
			},
			{
				title: "an input that lies outside the root", tool: "image_generation", refused: true,
				args: map[string]any{"prompt": "the same in blue", "images": []string{"/etc/passwd"}},
				want: []string{"/etc/passwd"},
			},
		},
	}, nil
}

// lookAt wants so many pictures in a directory that can be decoded, and names them.
func lookAt(dir string, want int) (ok bool) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.png"))
	if err != nil || len(files) != want {
		fmt.Printf("   WRONG: %d pictures were saved, want %d, %v\n", len(files), want, err)
		return false
	}
	for _, name := range files {
		if err := decode(name); err != nil {
			fmt.Printf("   WRONG: %s: %v\n", name, err)
			return false
		}
		fmt.Printf("   look at: %s\n", name)
	}
	return true
}

func decode(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = image.Decode(f)
	return err
}
