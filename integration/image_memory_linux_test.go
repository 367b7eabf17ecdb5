package integration_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openaitest"
)

// A picture of 3840x2160 of noise that is bought takes at most four times the memory that it
// has when decoded, as an event and as a whole answer.
func TestMemoryOfBoughtPicture(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 3840, 2160))
	_, _ = rand.NewChaCha8([32]byte{}).Read(m.Pix) // it always fills
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 255
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	text := base64.StdEncoding.EncodeToString(b.Bytes())
	for name, step := range map[string]openaitest.Step{
		"event":  openaitest.Events(`data: {"type":"image_generation.completed","b64_json":"` + text + `"}` + "\n\n"),
		"answer": openaitest.JSON(200, `{"data":[{"b64_json":"`+text+`"}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			upstream := httptest.NewServer(openaitest.New(imageKey, step))
			t.Cleanup(upstream.Close)
			url, p := launchHTTP(t, []string{"OPENAI_API_KEY=" + imageKey}, binary(t, "cmd/mcp-image"),
				"--base-url", upstream.URL+"/v1", "--server-profile", "openai", "--output-dir", filepath.Join(t.TempDir(), "out"))
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer cs.Close()
			idle := mostMemory(t, p.Pid)
			res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "image_generation", Arguments: map[string]any{"prompt": "noise", "size": "3840x2160"}})
			if err != nil || res.IsError {
				t.Fatalf("%v, %+v", err, res)
			}
			above := float64(mostMemory(t, p.Pid)-idle) / float64(len(m.Pix))
			t.Logf("%.2f decoded pictures above idle", above)
			if above > 4 {
				t.Errorf("it took %.2f decoded pictures above idle, want at most 4", above)
			}
		})
	}
}

var vmHWM = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// mostMemory returns the most that a process has had, in bytes.
func mostMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	found := vmHWM.FindSubmatch(status)
	if err != nil || found == nil {
		t.Fatalf("no VmHWM: %v", err)
	}
	n, err := strconv.Atoi(string(found[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n << 10
}
