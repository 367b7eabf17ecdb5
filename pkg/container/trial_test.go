package container

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/toolhost/toolhost/pkg/container/protocol"

	"github.com/containerd/errdefs"
)

func say(s stream, argv ...string) (string, error) {
	f, _ := protocol.Make(protocol.Run, 7, protocol.Command{Argv: argv, Dir: "/"})
	f.WriteTo(s)
	r, err := protocol.Read(s)
	return string(r.Body), err
}

func TestTrial(t *testing.T) {
	ctx := context.Background()
	e, err := Connect(ctx, EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	i, err := e.Info(ctx)
	t.Logf("%+v %v", i, err)
	t0 := time.Now()
	c := Config{Image: "engine-trial/busybox", Pull: PullNever}.withDefaults()
	s, err := e.prepare(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	s.config.Image = "engine-trial/busybox"
	a, err := e.agent(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.provide(ctx, a, s.config.Image); err != nil {
		t.Fatal(err)
	}
	t.Log("provided", time.Since(t0))
	h := &dockerHost{engine: e, spec: s.with(a.mount(true))}
	st, err := h.start(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("started", time.Since(t0))
	fmt.Println(say(st, "sh", "-c", "id; env; ls -la / /.mcp /data; mount | grep -v cgroup; grep -E 'Cap|NoNew|Secc' /proc/self/status; touch /home /tmp/x /data/y; pwd"))
	fmt.Println(st.diagnostics())
	t1 := time.Now()
	st2, err := h.restart(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("restarted", time.Since(t1))
	fmt.Println(say(st2, "sh", "-c", "ls /tmp /data; sleep 1"))
	_, err = say(st, "x")
	t.Log("old:", err)
	time.Sleep(3 * time.Second)
	fmt.Println(say(st2, "sh", "-c", "ls /tmp /data /.mcp"))
	st2.Close()
	t2 := time.Now()
	for {
		if _, err := e.api.ContainerInspect(ctx, h.id); errdefs.IsNotFound(err) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Log("gone after close", time.Since(t2))
	t.Log(h.remove(ctx))
}
