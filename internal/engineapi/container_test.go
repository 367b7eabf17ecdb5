package engineapi_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
)

func TestContainer(t *testing.T) {
	c, err := engineapi.New(testengine.Docker(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	label := testengine.Label(t)
	id, err := c.Create(t.Context(), engineapi.Spec{
		Image: testengine.Busybox(t), Cmd: []string{"sleep", "1000"}, Labels: map[string]string{label: ""},
		HostConfig: engineapi.HostConfig{NetworkMode: "none", CapDrop: []string{"ALL"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	for want, argv := range map[int][]string{0: {"true"}, 7: {"sh", "-c", "echo out; echo err >&2; exit 7"}} {
		if code, err := c.Exec(t.Context(), id, argv...); err != nil || code != want {
			t.Errorf("exec %q: code %d, %v, want %d", argv, code, err, want)
		}
	}
	list, err := c.Containers(t.Context(), label)
	if err != nil || len(list) != 1 || list[0].ID != id || list[0].State != "running" {
		t.Errorf("containers with the label: %+v, %v", list, err)
	}
	if commands, err := c.Top(t.Context(), id); err != nil || !slices.Contains(commands, "Ss sleep 1000") {
		t.Errorf("its processes: %q, %v", commands, err)
	}
	for range 2 { // the second finds none
		if err := c.Remove(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	testengine.NoLeaks(t, c.Host, label)
}

func TestCreateStartWait(t *testing.T) {
	c, err := engineapi.New(testengine.Docker(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := c.Create(t.Context(), engineapi.Spec{Image: testengine.Busybox(t), Cmd: []string{"sh", "-c", "exit 3"}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Remove(t.Context(), id)
	if err := c.Start(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if code, err := c.Wait(t.Context(), id); err != nil || code != 3 {
		t.Errorf("code %d, %v, want 3", code, err)
	}
}

func TestHosts(t *testing.T) {
	got := map[string]bool{}
	for _, host := range []string{"unix:///run/docker.sock", "tcp://127.0.0.1:2375", "ssh://host", "/run/docker.sock", "unix://", ""} {
		_, err := engineapi.New(host)
		got[host] = err == nil
	}
	want := map[string]bool{
		"unix:///run/docker.sock": true, "tcp://127.0.0.1:2375": true,
		"ssh://host": false, "/run/docker.sock": false, "unix://": false, "": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("which hosts are taken (-want +got):\n%s", diff)
	}
}

func TestNoEngine(t *testing.T) {
	c, err := engineapi.New("unix://" + t.TempDir() + "/none.sock")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ping(t.Context()); err == nil {
		t.Error("an engine answers where none is")
	}
	if has, err := c.HasImage(t.Context(), "any"); err == nil || has {
		t.Errorf("it has an image: %v, %v", has, err)
	}
}
