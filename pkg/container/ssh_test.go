//go:build unix

package container_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/container"
)

// fakeSSH puts a program ssh first in PATH, and returns the file in which its arguments will be.
func fakeSSH(t *testing.T, script string) (arguments string) {
	t.Helper()
	dir := shortDir(t)
	write(t, dir+"/ssh", "#!/bin/sh\nfor a; do echo \"$a\"; done >"+dir+"/arguments\n"+script)
	if err := os.Chmod(dir+"/ssh", 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return dir + "/arguments"
}

func TestConnectSSH(t *testing.T) {
	tests := map[string]struct{ host, want string }{
		"host":     {"ssh://far.example", "-T -o BatchMode=yes -- far.example docker system dial-stdio"},
		"all":      {"ssh://me@far.example:2222", "-T -o BatchMode=yes -l me -p 2222 -- far.example docker system dial-stdio"},
		"a socket": {"ssh://far.example/run/it's", `-T -o BatchMode=yes -- far.example docker --host 'unix:///run/it'\''s' system dial-stdio`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			socket := strings.TrimPrefix(serve(t, shortDir(t)+"/far"), "unix://")
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			said := fakeSSH(t, "RELAY="+socket+" exec "+self+"\n")
			e, err := container.Connect(t.Context(), container.EngineOptions{Host: test.host})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if info, err := e.Info(t.Context()); err != nil || info.Version != "far" || !info.Remote {
				t.Errorf("%+v, %v, want the remote engine far", info, err)
			}
			raw, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.Join(strings.Split(strings.TrimSpace(string(raw)), "\n"), " ")); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

// What ssh says is the reason.
func TestConnectSSHRefused(t *testing.T) {
	fakeSSH(t, "echo 'Permission denied (publickey).' >&2; exit 255\n")
	_, err := container.Connect(t.Context(), container.EngineOptions{Host: "ssh://far.example"})
	if err == nil || !strings.Contains(err.Error(), "Permission denied (publickey)") {
		t.Errorf("%v, want what ssh said", err)
	}
}
