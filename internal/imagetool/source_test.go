package imagetool_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// The key's file is read with the first call, within bounds.
func TestKeyFile(t *testing.T) {
	far := openaitest.New(plantedKey)
	s := httptest.NewServer(far)
	t.Cleanup(s.Close)
	dir := t.TempDir()
	for name, c := range map[string]struct {
		content string
		path    string
		want    string // "": it is used
	}{
		"right":     {content: "\n " + plantedKey + "\n"},
		"padded":    {content: plantedKey + strings.Repeat("\n", 64<<10-len(plantedKey))},
		"too long":  {content: plantedKey + strings.Repeat("\n", 64<<10), want: "has more than 65536 bytes"},
		"empty":     {content: " \n", want: "is empty"},
		"directory": {path: dir, want: "is no regular file"},
		"device":    {path: os.DevNull, want: "is no regular file"},
		"absent":    {path: filepath.Join(dir, "absent"), want: "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			path := c.path
			if path == "" {
				path = filepath.Join(t.TempDir(), "key")
				must(t, os.WriteFile(path, []byte(c.content), 0o600))
			}
			h := newHarness(t, options{flags: []string{"base-url=" + s.URL + "/v1", "server-profile=openai", "api-key-file=" + path}})
			before := len(far.Requests())
			res := h.call(t, args{"prompt": "a house", "size": "64x64"})
			sent := len(far.Requests()) - before
			text := textOf(t, res)
			switch {
			case c.want == "" && (res.IsError || sent != 1):
				t.Errorf("%d were sent: %s", sent, text)
			case c.want != "" && (!res.IsError || sent != 0 || !strings.Contains(text, c.want)):
				t.Errorf("%d were sent: %s, want %q", sent, text, c.want)
			}
			if strings.Contains(text, plantedKey) {
				t.Errorf("it holds the key: %s", text)
			}
		})
	}
}
