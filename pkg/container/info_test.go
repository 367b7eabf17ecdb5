package container_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container"
)

const ableEngine = `"OSType": "linux", "Architecture": "x86_64", "MemoryLimit": true, "CpuCfsQuota": true, "PidsLimit": true, "Runtimes": {"runsc": {}, "runc": {}}`

// fakeEngine serves what an engine says of itself.
func fakeEngine(t *testing.T, info string) *container.Engine {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/info") {
			_, _ = w.Write([]byte("{" + info + "}")) // the client may have gone
		}
	}))
	t.Cleanup(s.Close)
	return connectTo(t, strings.Replace(s.URL, "http", "tcp", 1))
}

func TestNotes(t *testing.T) {
	const far = "the engine is reached over the network: directories of this machine cannot be mounted"
	tests := map[string]struct {
		info string
		want []string
	}{
		"able": {ableEngine + `, "SecurityOptions": ["name=apparmor", "name=seccomp,profile=default"]`, []string{far}},
		"rootless": {ableEngine + `, "SecurityOptions": ["name=seccomp,profile=default", "name=rootless"]`, []string{
			far, "the engine is rootless: uid 0 in a sandbox is the user who runs the engine, and sandboxes use it",
		}},
		"selinux, user ids mapped": {ableEngine + `, "SecurityOptions": ["name=selinux", "name=userns", "name=seccomp"]`, []string{
			far, "the engine maps user ids: files in mounts may seem to be nobody's",
			"SELinux is on: directories may not be readable in a sandbox; hint: chcon -Rt container_file_t DIR",
		}},
		"without limits": {`"OSType": "linux", "Architecture": "aarch64", "Warnings": ["WARNING: No swap limit support"]`, []string{
			far, "the engine has no seccomp: system calls are not filtered", "the engine cannot limit memory",
			"the engine cannot limit CPUs", "the engine cannot limit processes",
			"the engine cannot limit swap: a sandbox may use more than its memory",
		}},
		"another machine": {strings.Replace(ableEngine, "x86_64", "s390x", 1) + `, "SecurityOptions": ["name=seccomp"]`, []string{
			"there is no agent for s390x: commands run by docker exec, which is slower and can do less", far,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			info, err := fakeEngine(t, test.info).Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, info.Notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if info.Rootless != (name == "rootless") {
				t.Errorf("rootless: %v", info.Rootless)
			}
		})
	}
}

// Containers of another system are not taken for Linux ones.
func TestOtherSystem(t *testing.T) {
	s, err := fakeEngine(t, `"OSType": "windows"`).Open(t.Context(), container.Config{}, nil)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the engine runs windows containers") {
		t.Errorf("%v, want that it cannot be", err)
	}
}

func TestUser(t *testing.T) {
	testneed.Root(t)
	owned := t.TempDir()
	if err := os.Chown(owned, 4242, 4343); err != nil {
		t.Fatal(err)
	}
	mounts := []container.Mount{{Source: owned, Target: "/data"}, {Source: t.TempDir(), Target: "/other"}}
	tests := map[string]struct {
		config   container.Config
		rootless bool
		want     string
	}{
		"nothing said":    {want: "1000:1000"},
		"asked for":       {config: container.Config{User: "7", Mounts: mounts}, rootless: true, want: "7"},
		"first mount":     {config: container.Config{Mounts: mounts}, want: "4242:4343"},
		"rootless engine": {config: container.Config{Mounts: mounts}, rootless: true, want: "0:0"},
		"dev":             {config: container.Config{Mounts: mounts, Profile: container.Dev}, want: "0:0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := container.UserFor(test.config, test.rootless); err != nil || got != test.want {
				t.Errorf("%q, %v, want %q", got, err, test.want)
			}
		})
	}
}
