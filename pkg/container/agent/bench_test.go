//go:build linux

package main_test

import "testing"

func BenchmarkTrue(b *testing.B) {
	c := startPlain(b)
	for b.Loop() {
		if r := c.run(c.sh("true")); r.Code != 0 {
			b.Fatalf("%+v", r)
		}
	}
}
