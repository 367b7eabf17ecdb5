package capture_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/pkg/container/capture"
)

// A text that is cut twice says as much as one that was cut once.
func TestClipOfText(t *testing.T) {
	mark := "\n[... 800 characters omitted ...]\n"
	for name, whole := range map[string]string{
		"ASCII":          strings.Repeat("abcdefghi\n", 100),
		"four bytes":     strings.Repeat("\U0001F600", 1000),
		"of two widths":  strings.Repeat("x", 500) + strings.Repeat("\U0001F600", 500),
		"its own mark":   strings.Repeat("x", 300) + mark + strings.Repeat("y", 300) + mark + strings.Repeat("z", 332),
		"short":          "a",
		"nothing at all": "",
	} {
		all := capture.Kept{Head: []byte(whole), Bytes: int64(len(whole)), Runes: int64(utf8.RuneCountInString(whole))}
		for _, limits := range [][2]int{{1 << 20, 1 << 20}, {1 << 20, 200}, {400, 400}, {400, 200}, {400, 70}, {400, 10}, {400, 0}, {234, 100}} {
			t.Run(fmt.Sprint(name, limits), func(t *testing.T) {
				first, _ := capture.Clip(all, capture.Kept{}, limits[0])
				got := first.Clip(limits[1])
				want, _ := capture.Clip(all, capture.Kept{}, limits[1])
				if got != want {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
			})
		}
	}
}
