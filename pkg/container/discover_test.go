package container_test

import (
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/testneed"
	"github.com/toolhost/toolhost/pkg/container"
)

// ping answers as an engine does, and knows nothing else but its name.
func ping(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		if strings.HasSuffix(r.URL.Path, "/info") {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"ServerVersion": %q, "OSType": "linux", "Architecture": "x86_64"}`, name)
		}
	})
}

// serve runs an engine of which only its name is known on a unix socket.
func serve(t *testing.T, path string) (host string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(ping(filepath.Base(path)))
	s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return "unix://" + path
}

// context writes a context of the Docker command line.
func dockerContext(t *testing.T, config, name string, endpoint map[string]any) {
	t.Helper()
	id := fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	meta, err := json.Marshal(map[string]any{"Name": name, "Endpoints": map[string]any{"docker": endpoint}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(config, "contexts/meta", id, "meta.json"), string(meta))
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// shortDir returns a directory whose name leaves room for that of a socket.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "found-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// nowhere makes a home without an engine, and returns it.
func nowhere(t *testing.T) string {
	t.Helper()
	home := shortDir(t)
	t.Setenv("HOME", home)
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "XDG_RUNTIME_DIR"} {
		t.Setenv(name, "")
	}
	return home
}

func TestConnect(t *testing.T) {
	tests := map[string]struct {
		prepare      func(t *testing.T, home string) container.EngineOptions
		source, name string // of the engine that is found
	}{
		"given": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				t.Setenv("DOCKER_HOST", serve(t, home+"/other"))
				return container.EngineOptions{Host: serve(t, home+"/given")}
			},
			source: "given", name: "given",
		},
		"DOCKER_HOST": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				t.Setenv("DOCKER_HOST", serve(t, home+"/env"))
				t.Setenv("DOCKER_CONTEXT", "unused")
				return container.EngineOptions{}
			},
			source: "DOCKER_HOST", name: "env",
		},
		"DOCKER_CONTEXT": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				dockerContext(t, home+"/.docker", "mine", map[string]any{"Host": serve(t, home+"/mine")})
				dockerContext(t, home+"/.docker", "other", map[string]any{"Host": serve(t, home+"/other")})
				write(t, home+"/.docker/config.json", `{"currentContext": "other"}`)
				t.Setenv("DOCKER_CONTEXT", "mine")
				return container.EngineOptions{}
			},
			source: "context mine of DOCKER_CONTEXT", name: "mine",
		},
		"current context": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				dockerContext(t, home+"/.docker", "colima", map[string]any{"Host": serve(t, home+"/colima")})
				write(t, home+"/.docker/config.json", `{"auths": {}, "currentContext": "colima"}`)
				return container.EngineOptions{}
			},
			source: "context colima", name: "colima",
		},
		"current context of DOCKER_CONFIG": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				dockerContext(t, home+"/config", "far", map[string]any{"Host": serve(t, home+"/far")})
				write(t, home+"/config/config.json", `{"currentContext": "far"}`)
				t.Setenv("DOCKER_CONFIG", home+"/config")
				return container.EngineOptions{}
			},
			source: "context far", name: "far",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := container.Connect(t.Context(), test.prepare(t, nowhere(t)))
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			info, err := e.Info(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			got := []string{info.Source, info.Version, info.API, info.Arch}
			if diff := cmp.Diff([]string{test.source, test.name, "1.41", "amd64"}, got); diff != "" {
				t.Errorf("engine (-want +got):\n%s", diff)
			}
		})
	}
}

// One that was named and does not answer is an error, and no other is tried.
func TestConnectNamed(t *testing.T) {
	tests := map[string]struct {
		prepare func(t *testing.T, home string) container.EngineOptions
		want    string // in the error
	}{
		"no such socket": {
			prepare: func(_ *testing.T, home string) container.EngineOptions {
				return container.EngineOptions{Host: "unix://" + home + "/none"}
			},
			want: "/none (given): no such file\n",
		},
		"nobody listens": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				l, err := net.Listen("unix", home+"/dead")
				if err != nil {
					t.Fatal(err)
				}
				l.(*net.UnixListener).SetUnlinkOnClose(false)
				l.Close()
				t.Setenv("DOCKER_HOST", "unix://"+home+"/dead")
				return container.EngineOptions{}
			},
			want: "/dead (DOCKER_HOST): connection refused\n",
		},
		"no such context": {
			prepare: func(t *testing.T, _ string) container.EngineOptions {
				t.Setenv("DOCKER_CONTEXT", "gone")
				return container.EngineOptions{}
			},
			want: "(context gone of DOCKER_CONTEXT): no such context\n",
		},
		"a context without an engine": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				dockerContext(t, home+"/.docker", "empty", nil)
				write(t, home+"/.docker/config.json", `{"currentContext": "empty"}`)
				return container.EngineOptions{}
			},
			want: "(context empty): the context names no engine\n",
		},
		"a configuration that is none": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				write(t, home+"/.docker/config.json", `{"currentContext": `)
				return container.EngineOptions{}
			},
			want: "/.docker/config.json (current context): read ",
		},
		"no address": {
			prepare: func(*testing.T, string) container.EngineOptions { return container.EngineOptions{Host: "localhost"} },
			want:    "is no address of an engine; hint: unix:///path",
		},
		"ssh without a host": {
			prepare: func(*testing.T, string) container.EngineOptions {
				return container.EngineOptions{Host: "ssh://-oProxyCommand=x"}
			},
			want: "ssh://user@host:port",
		},
		"another service": {
			prepare: func(t *testing.T, _ string) container.EngineOptions {
				s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				t.Cleanup(s.Close)
				return container.EngineOptions{Host: strings.Replace(s.URL, "http", "tcp", 1)}
			},
			want: "what answers there is not a Docker engine",
		},
		"no certificates": {
			prepare: func(t *testing.T, home string) container.EngineOptions {
				s := tlsServer(t, "tls")
				write(t, home+"/ca.pem", "nonsense")
				t.Setenv("DOCKER_TLS_VERIFY", "1")
				t.Setenv("DOCKER_CERT_PATH", home)
				return container.EngineOptions{Host: strings.Replace(s.URL, "https", "tcp", 1)}
			},
			want: "ca.pem holds none",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e, err := container.Connect(t.Context(), test.prepare(t, nowhere(t)))
			if err == nil {
				e.Close()
				t.Fatal("it found an engine")
			}
			var none *container.NoEngineError
			if !errors.As(err, &none) || len(none.Tried) != 1 {
				t.Fatalf("%#v, want a NoEngineError with one attempt", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("%q does not say %q", err, test.want)
			}
		})
	}
}

func TestSocketHosts(t *testing.T) {
	if runtime.GOOS == "windows" {
		testneed.Missing(t, "a system with unix sockets", "run the tests there")
	}
	home := nowhere(t)
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/7")
	want := []string{
		"unix:///var/run/docker.sock",
		"unix://" + home + "/.docker/run/docker.sock",
		"unix://" + home + "/.colima/default/docker.sock",
		"unix://" + home + "/.orbstack/run/docker.sock",
		"unix://" + home + "/.rd/docker.sock",
		"unix:///run/user/7/docker.sock",
		"unix:///run/user/7/podman/podman.sock",
		"unix:///run/podman/podman.sock",
	}
	if diff := cmp.Diff(want, container.SocketHosts()); diff != "" {
		t.Errorf("hosts (-want +got):\n%s", diff)
	}
}

// Where nobody named one, the first that answers is taken, and an error lists all.
func TestFirstOf(t *testing.T) {
	dir := shortDir(t)
	none, second, third := "unix://"+dir+"/none", serve(t, dir+"/second"), serve(t, dir+"/third")
	e, err := container.FirstOf(t.Context(), none, second, third)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if info, err := e.Info(t.Context()); err != nil || info.Version != "second" {
		t.Errorf("it found %q, %v", info.Version, err)
	}
	_, err = container.FirstOf(t.Context(), none, "unix://"+dir)
	want := "no Docker engine answers; looked for it at:\n" +
		"  unix://" + dir + "/none (test): no such file\n" +
		"  unix://" + dir + " (test): connection refused\n" +
		"hint: start the engine, or name it with --host or DOCKER_HOST"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// An engine that takes connections and never answers is given a few seconds.
func TestConnectSilent(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	began := time.Now()
	_, err = container.Connect(t.Context(), container.EngineOptions{Host: "tcp://" + l.Addr().String()})
	if err == nil || !strings.Contains(err.Error(), "no answer within 5s") {
		t.Errorf("%v, want that it does not answer", err)
	}
	if took := time.Since(began); took > 25*time.Second {
		t.Errorf("it took %s", took)
	}
}

// tlsServer runs an engine that speaks TLS, and logs nothing of clients that do not.
func tlsServer(t *testing.T, name string) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(ping(name))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func TestConnectTLS(t *testing.T) {
	s := tlsServer(t, "secret")
	host := strings.Replace(s.URL, "https", "tcp", 1)
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	tests := map[string]struct {
		prepare func(t *testing.T, home string)
		fails   bool
	}{
		"its certificate is known": {prepare: func(t *testing.T, home string) {
			write(t, home+"/certs/ca.pem", ca)
			t.Setenv("DOCKER_TLS_VERIFY", "1")
			t.Setenv("DOCKER_CERT_PATH", home+"/certs")
			t.Setenv("DOCKER_HOST", host)
		}},
		"certificates of the command line": {prepare: func(t *testing.T, home string) {
			write(t, home+"/.docker/ca.pem", ca)
			t.Setenv("DOCKER_TLS_VERIFY", "1")
			t.Setenv("DOCKER_HOST", host)
		}},
		"its certificate is not known": {fails: true, prepare: func(t *testing.T, _ string) {
			t.Setenv("DOCKER_TLS_VERIFY", "1")
			t.Setenv("DOCKER_HOST", host)
		}},
		"no TLS was asked for": {fails: true, prepare: func(t *testing.T, _ string) { t.Setenv("DOCKER_HOST", host) }},
		"a context": {prepare: func(t *testing.T, home string) {
			dockerContext(t, home+"/.docker", "tls", map[string]any{"Host": host})
			write(t, fmt.Sprintf("%s/.docker/contexts/tls/%x/docker/ca.pem", home, sha256.Sum256([]byte("tls"))), ca)
			t.Setenv("DOCKER_CONTEXT", "tls")
		}},
		"a context that does not check": {prepare: func(t *testing.T, home string) {
			dockerContext(t, home+"/.docker", "lax", map[string]any{"Host": host, "SkipTLSVerify": true})
			t.Setenv("DOCKER_CONTEXT", "lax")
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.prepare(t, nowhere(t))
			e, err := container.Connect(t.Context(), container.EngineOptions{})
			if test.fails {
				if err == nil {
					e.Close()
					t.Fatal("it connected")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if info, err := e.Info(t.Context()); err != nil || info.Version != "secret" || !info.Remote {
				t.Errorf("%+v, %v, want the remote engine secret", info, err)
			}
		})
	}
}
