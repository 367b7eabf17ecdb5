//go:build linux

package main_test

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	everywhere(t, func(t *testing.T, c *client) {
		t.Logf("%+v", c.greeting())
		for range 5 {
			r := c.run(c.sh("echo hi; echo err >&2; exit 3"))
			t.Logf("%+v", r)
		}
		cmd := c.sh("echo part; sleep 60")
		cmd.TimeoutMS = 500
		t.Logf("%+v", c.run(cmd))
		r := c.run(c.sh("echo hi; sleep 100 & exit 7"))
		t.Logf("%+v", r)
		t.Logf("%+v", c.jobs())
		t.Logf("%+v", c.target(2+2, r.job, 0))
		t.Logf("%+v", c.target(5, r.job, 0))
		r = c.run(c.sh("kill -9 $PPID; sleep 100"))
		t.Logf("%+v", r)
		c.empty()
	})
}
