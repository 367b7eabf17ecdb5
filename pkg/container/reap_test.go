package container_test

import (
	"maps"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testengine"
	"github.com/toolhost/toolhost/pkg/container"
)

// deadPID returns the id of a process that was, and is no more.
func deadPID(t *testing.T) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(cmd.Process.Pid)
}

// Only what nobody cares for any more is removed.
func TestReap(t *testing.T) {
	mine := container.Labels(time.Now(), time.Hour)
	old := container.Labels(time.Now().Add(-2*time.Hour), time.Hour)
	with := func(base map[string]string, changes ...string) map[string]string {
		l := maps.Clone(base)
		for i := 0; i < len(changes); i += 2 {
			l["toolhost."+changes[i]] = changes[i+1]
		}
		return l
	}
	dead := deadPID(t)
	tests := map[string]struct {
		labels  map[string]string
		running bool
		gone    bool
	}{
		"owner is dead":                       {labels: with(mine, "pid", dead), gone: true},
		"owner is dead, and it runs":          {labels: with(mine, "pid", dead), running: true, gone: true},
		"another process has the owner's pid": {labels: with(mine, "pid-start", "1"), gone: true},
		"owner lives":                         {labels: mine},
		"owner lives, and it runs":            {labels: mine, running: true},
		"owner lives, older than its life":    {labels: old},
		"owner lives, its start is not known": {labels: with(mine, "pid-start", "")},
		"another host":                        {labels: with(mine, "host", "x", "pid", dead)},
		"another host, older than its life":   {labels: with(old, "host", "x", "pid", dead), gone: true},
		"a pid that is none":                  {labels: with(mine, "pid", "x")},
		"a time that is none":                 {labels: with(old, "host", "x", "created", "x")},
		"a lifetime that is none":             {labels: with(old, "host", "x", "lifetime", "x")},
		"not of ours":                         {labels: map[string]string{"toolhost.pid": dead, "toolhost.host": mine["toolhost.host"]}},
	}
	e := engine(t)
	image, own := testengine.Busybox(t), testengine.Label(t)
	api, err := engineapi.New(testengine.Docker(t))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	ids := map[string]string{}
	for name, test := range tests {
		labels := with(test.labels)
		labels[own] = "1"
		id, err := api.Create(t.Context(), engineapi.Spec{
			Image: image, Cmd: []string{"sleep", "1000"}, Labels: labels, HostConfig: engineapi.HostConfig{NetworkMode: "none"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if test.running {
			if err := api.Start(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		ids[name] = id
	}
	if _, err := e.Reap(t.Context()); err != nil { // how many is not known: other tests' servers reap as well
		t.Error(err)
	}
	for name, test := range tests {
		if gone := !inspect(t, ids[name], &struct{}{}); gone != test.gone {
			t.Errorf("%s: gone %v, want %v", name, gone, test.gone)
		}
	}
}

// The first sandbox of an engine is preceded by it.
func TestOpenReaps(t *testing.T) {
	e := engine(t)
	api, err := engineapi.New(testengine.Docker(t))
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close()
	labels := container.Labels(time.Now(), time.Hour)
	labels["toolhost.pid"], labels[testengine.Label(t)] = deadPID(t), "1"
	id, err := api.Create(t.Context(), engineapi.Spec{Image: testengine.Busybox(t), Cmd: []string{"true"}, Labels: labels})
	if err != nil {
		t.Fatal(err)
	}
	sandbox(t, e, busybox(t, container.Config{}))
	if inspect(t, id, &struct{}{}) {
		t.Error("what a dead owner left is there after Open")
	}
}
