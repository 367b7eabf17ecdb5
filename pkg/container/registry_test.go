package container_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// A registry serves one image, of a single file that no other has. An engine speaks plain HTTP
// with registries of its own machine.
type registry struct {
	image    string // its name for an engine
	gate     chan struct{}
	open     func() // sends the layer from now on
	manifest []byte
	blobs    map[string][]byte
	layer    string // digest

	mu       sync.Mutex
	requests map[string]int // by method and path
}

const manifestType = "application/vnd.docker.distribution.manifest.v2+json"

// newRegistry returns one that sends its layer when it is told to, or the test ends.
func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{gate: make(chan struct{}), blobs: map[string][]byte{}, requests: map[string]int{}}
	r.open = sync.OnceFunc(func() { close(r.gate) })
	content := make([]byte, 300_000)
	_, _ = rand.Read(content) // never fails
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	if err := w.WriteHeader(&tar.Header{Name: "file", Mode: 0o644, Size: int64(len(content))}); err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(content) // into memory
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r.layer = r.add(layer.Bytes())
	config := r.add(encode(t, map[string]any{
		"architecture": runtime.GOARCH, "os": "linux", "config": map[string]any{
			"User": "nobody-known", "Entrypoint": []string{"/missing"}, "Volumes": map[string]any{"/kept": struct{}{}, "/data": struct{}{}},
			"Healthcheck": map[string]any{"Test": []string{"CMD", "/missing"}},
		},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{r.layer}},
	}))
	r.manifest = encode(t, map[string]any{
		"schemaVersion": 2, "mediaType": manifestType,
		"config": map[string]any{"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(r.blobs[config]), "digest": config},
		"layers": []any{map[string]any{"mediaType": "application/vnd.docker.image.rootfs.diff.tar", "size": layer.Len(), "digest": r.layer}},
	})
	s := httptest.NewServer(r)
	t.Cleanup(func() {
		r.open()
		s.CloseClientConnections()
		s.Close()
	})
	r.image = strings.TrimPrefix(s.URL, "http://") + "/some/image"
	t.Cleanup(func() { removeImage(t, r.image) })
	return r
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func (r *registry) add(blob []byte) (digest string) {
	digest = fmt.Sprintf("sha256:%x", sha256.Sum256(blob))
	r.blobs[digest] = blob
	return digest
}

// asked returns how often the registry was asked for something whose path holds part.
func (r *registry) asked(part string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, times := range r.requests {
		if strings.Contains(path, part) {
			n += times
		}
	}
	return n
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	r.requests[req.Method+" "+req.URL.Path]++
	r.mu.Unlock()
	kind, name, _ := strings.Cut(strings.TrimPrefix(req.URL.Path, "/v2/some/image/"), "/")
	switch {
	case req.URL.Path == "/v2/":
	case strings.HasPrefix(req.URL.Path, "/v2/private/"):
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"errors": [{"code": "UNAUTHORIZED", "message": "authentication required"}]}`)
	case kind == "manifests" && (name == "latest" || name == fmt.Sprintf("sha256:%x", sha256.Sum256(r.manifest))):
		w.Header().Set("Content-Type", manifestType)
		w.Header().Set("Docker-Content-Digest", fmt.Sprintf("sha256:%x", sha256.Sum256(r.manifest)))
		_, _ = w.Write(r.manifest) // the engine may have gone
	case kind == "blobs" && r.blobs[name] != nil:
		if name == r.layer {
			select {
			case <-r.gate:
			case <-req.Context().Done():
			}
		}
		_, _ = w.Write(r.blobs[name]) // the engine may have gone
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"errors": [{"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}]}`)
	}
}
