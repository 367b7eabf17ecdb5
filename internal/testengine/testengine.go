// Package testengine gives tests a real Docker engine, images to run, and an engine of their
// own where they have to stop and kill it; and says what they left behind.
//
// Where there is none, tests are skipped or fail as package testneed says; REQUIRE_DOCKER=1 makes
// them fail for want of an engine or an image alone. Nothing is pulled and no image made here:
// `make images` does that.
package testengine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/engineapi"
	"github.com/toolhost/toolhost/internal/testneed"
)

// patience is how long an engine may take to answer, or to do what must come.
const patience = 30 * time.Second

// Docker returns the address of a running engine: DOCKER_HOST, or the default one.
func Docker(t testing.TB) (host string) {
	t.Helper()
	host = engineapi.Host()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := connect(t, host).Ping(ctx); err != nil {
		testneed.MissingDocker(t, fmt.Sprintf("a Docker engine at %s (%v)", host, err), "start one, or name it in DOCKER_HOST")
	}
	return host
}

// Busybox returns the name of an image of one static program: sh and the usual small tools.
// It knows the users root and nobody only.
func Busybox(t testing.TB) (image string) {
	t.Helper()
	return has(t, "toolhost-test/busybox")
}

// Debian returns the name of an image with what a small Debian has: bash, dash, coreutils,
// util-linux, procps, awk, perl, python3.
func Debian(t testing.TB) (image string) {
	t.Helper()
	return has(t, "toolhost-test/debian")
}

func has(t testing.TB, image string) string {
	t.Helper()
	ok, err := connect(t, Docker(t)).HasImage(t.Context(), image)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		testneed.MissingDocker(t, "the image "+image, "make images")
	}
	return image
}

// Label returns a label that is this test's own, and removes at its end what containers of
// [Docker] still carry it.
func Label(t testing.TB) string {
	t.Helper()
	label := fmt.Sprintf("toolhost.test.%s-%d", strings.ReplaceAll(t.Name(), "/", "-"), time.Now().UnixNano())
	c := connect(t, engineapi.Host())
	t.Cleanup(func() { removeAll(t, c, label) })
	return label
}

// NoLeaks waits until no container of an engine carries a label, its key or key=value, in whatever
// state, and fails the test if some stay. What is left is removed.
func NoLeaks(t testing.TB, host, label string) {
	t.Helper()
	if err := Left(host, label); err != nil {
		t.Error(err)
		removeAll(t, connect(t, host), label)
	}
}

// Left is [NoLeaks] for the end of a package's tests, where there is no test any more. It waits two
// seconds for containers to go. An engine that does not answer holds none.
func Left(host, label string) error {
	c, err := engineapi.New(host)
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if c.Ping(ctx) != nil {
		return nil
	}
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		list, err := c.Containers(ctx, label)
		if err != nil || len(list) == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("containers are left that carry the label %s: %s", label, describe(list))
		}
	}
}

func describe(list []engineapi.Container) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%.12s (%s, %s) %v", c.ID, c.Image, c.State, c.Labels))
	}
	return strings.Join(parts, "; ")
}

// removeAll outlives the context of the test, which ends before its cleanup.
func removeAll(t testing.TB, c *engineapi.Client, label string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := c.Containers(ctx, label)
	for _, one := range list {
		err = c.Remove(ctx, one.ID)
	}
	if err != nil {
		t.Error(err)
	}
}

// connect returns a client that is closed at the end of the test.
func connect(t testing.TB, host string) *engineapi.Client {
	t.Helper()
	c, err := engineapi.New(host)
	if err != nil {
		testneed.MissingDocker(t, err.Error(), "set DOCKER_HOST to unix:///path or tcp://address")
	}
	t.Cleanup(c.Close)
	return c
}
