package container_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container"
)

func TestPull(t *testing.T) {
	e, r := engine(t), newRegistry(t)
	config := container.Config{Image: r.image}
	var lines []string
	s, err := e.Open(t.Context(), config, func(line string) {
		lines = append(lines, line)
		r.open()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "pulling "+r.image) {
		t.Errorf("it reported %q", lines)
	}
	if s.Info.Degraded != "" || s.Info.Image != r.image || !strings.HasPrefix(s.Info.ImageID, "sha256:") {
		t.Errorf("the sandbox is %+v", s.Info)
	}
	before := r.asked("/manifests/")
	for _, test := range []struct {
		pull  container.PullPolicy
		image string
		asks  bool
	}{
		{container.PullMissing, r.image, false},
		{container.PullNever, r.image, false},
		{container.PullNever, s.Info.ImageID, false},
		{container.PullAlways, s.Info.ImageID, false}, // an id is always the same
		{container.PullAlways, r.image, true},
	} {
		again, err := e.Open(t.Context(), container.Config{Image: test.image, Pull: test.pull}, nil)
		if err != nil {
			t.Fatal(err)
		}
		again.Close()
		if asked := r.asked("/manifests/") > before; asked != test.asks {
			t.Errorf("pull %s of %s: the registry was asked %v, want %v", test.pull, test.image, asked, test.asks)
		}
	}
}

// What an image says of itself does not get in the way, and its volumes go with the sandbox.
func TestImageSettings(t *testing.T) {
	e, r := engine(t), newRegistry(t)
	r.open()
	s := sandbox(t, e, container.Config{Image: r.image})
	f := factsOf(t, s)
	if f.Config.User != "1000:1000" || f.Config.Entrypoint[0] != "/.mcp/agent" || f.Config.Healthcheck.Test[0] != "NONE" {
		t.Errorf("the container runs %+v", f.Config)
	}
	var volumes []string
	for _, m := range f.Mounts {
		if m.Type == "volume" && m.Destination != "/.mcp" {
			volumes = append(volumes, m.Destination+" "+m.Name)
		}
	}
	if len(volumes) != 1 || !strings.HasPrefix(volumes[0], "/kept ") {
		t.Fatalf("volumes %q, want one at /kept", volumes)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if status := ask(t, "GET", "/volumes/"+strings.TrimPrefix(volumes[0], "/kept ")); status != 404 {
		t.Errorf("the volume is there after Close: status %d", status)
	}
}

// Several wait for one pull, which goes on when the one that began it gives up.
func TestPullShared(t *testing.T) {
	e, r := engine(t), newRegistry(t)
	config := container.Config{Image: r.image}
	first, cancel := context.WithCancel(t.Context())
	defer cancel()
	gaveUp := make(chan error, 1)
	go func() {
		_, err := e.Open(first, config, nil)
		gaveUp <- err
	}()
	waitFor(t, "the layer is asked for", func() bool { return r.asked("/blobs/"+r.layer) > 0 })
	type opened struct {
		s   *container.Sandbox
		err error
	}
	others := make(chan opened, 2)
	waiting := make(chan struct{}, 2)
	for range 2 {
		go func() {
			var once sync.Once
			s, err := e.Open(t.Context(), config, func(string) { once.Do(func() { waiting <- struct{}{} }) })
			others <- opened{s, err}
		}()
	}
	<-waiting
	<-waiting
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("the first got %v, want that it was cancelled", err)
	}
	r.open()
	for range 2 {
		o := <-others
		if o.err != nil {
			t.Fatal(o.err)
		}
		o.s.Close()
	}
	if n := r.asked("/blobs/" + r.layer); n != 1 {
		t.Errorf("the layer was sent %d times, want once", n)
	}
}

func TestNoImage(t *testing.T) {
	e, r := engine(t), newRegistry(t)
	host, _, _ := strings.Cut(r.image, "/")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	l.Close()
	tests := map[string]struct {
		config container.Config
		want   string // in the error
	}{
		"never":     {container.Config{Image: r.image, Pull: container.PullNever}, "the engine does not have it; hint: docker pull " + r.image + " (pull policy never)"},
		"an id":     {container.Config{Image: "sha256:" + strings.Repeat("0", 64)}, "an id cannot be pulled"},
		"no name":   {container.Config{Image: "Up Per"}, "this is no name of an image"},
		"unknown":   {container.Config{Image: host + "/some/image:none"}, "it is not here, and the registry does not have it (pull policy missing)"},
		"no digest": {container.Config{Image: r.image + "@sha256:" + strings.Repeat("1", 64)}, "the registry does not have it"},
		"login":     {container.Config{Image: host + "/private/image"}, "without a login"},
		"no network": {
			container.Config{Image: dead + "/some/image"},
			"image " + dead + "/some/image: it is not here and could not be pulled: ",
		},
		"no network, always": {container.Config{Image: dead + "/some/image", Pull: container.PullAlways}, "could not be pulled: "},
		"no name server": {
			container.Config{Image: "registry.invalid/image", PullTimeout: soon}, "(pull policy missing)",
		},
		"too slow": {container.Config{Image: r.image, PullTimeout: 300 * time.Millisecond}, "pulling it took more than 300ms"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			began, asked := time.Now(), r.asked("")
			s, err := e.Open(t.Context(), test.config, nil)
			if err == nil {
				s.Close()
				t.Fatal("it opened")
			}
			if !errors.As(err, new(*container.ImageError)) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want an ImageError that says %q", err, test.want)
			}
			if took := time.Since(began); took > 3*soon {
				t.Errorf("it took %s", took)
			}
			if n := r.asked("") - asked; n > 0 && test.config.Pull == container.PullNever {
				t.Errorf("the registry was asked %d times", n)
			}
		})
	}
}

// waitFor waits until something is so.
func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(soon); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %s: %s", soon, what)
		}
	}
}
