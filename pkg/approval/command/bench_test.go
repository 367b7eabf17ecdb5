package command_test

import (
	"fmt"
	"testing"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

func BenchmarkJudge(b *testing.B) {
	many := append([]command.Rule{}, sample...)
	for i := range 94 {
		many = append(many, command.Rule{ID: fmt.Sprint("other-", i), Effect: command.Effect(i % 3), Pattern: command.Pattern{Argv: words(fmt.Sprint("program", i), "x")}})
	}
	for _, bm := range []struct {
		name, dialect, line string
		rules               []command.Rule
	}{
		{"bash", "bash", "ls -la /data && git status", sample},
		{"sh", "sh", "ls -la /data && git status", sample},
		{"sh, 100 rules", "sh", "ls -la /data && git status", many},
		{"wrapped", "sh", "timeout 60 go test ./... | xargs -n 1 sh -c 'curl \"$@\"'", sample},
	} {
		b.Run(bm.name, func(b *testing.B) {
			in := command.Input{Commands: []string{bm.line}, Dialect: bm.dialect, Dir: "/data"}
			b.ReportAllocs()
			for b.Loop() {
				if j := command.Judge(in, bm.rules); j.Limit != "" {
					b.Fatal(j.Limit)
				}
			}
		})
	}
}
