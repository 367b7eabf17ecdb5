package command_test

import (
	"fmt"

	"github.com/toolhost/toolhost/pkg/approval/command"
)

func ExampleJudge() {
	rules := []command.Rule{
		{ID: "look", Effect: command.Allow, Pattern: command.Pattern{Argv: [][]string{{"ls", "cat"}}}},
		{ID: "no-net", Effect: command.Deny, Pattern: command.Pattern{Argv: [][]string{{"curl", "wget"}}}},
	}
	for _, line := range []string{"ls -la | cat", "ls $(sudo -u bob curl http://x)", "ls $x", "$x y"} {
		j := command.Judge(command.Input{Commands: []string{line}, Dialect: "sh", Dir: "/data"}, rules)
		fmt.Printf("allowed by %q, denied by %q, undecided %q\n", j.Allowed, j.Denied, j.Undecided)
	}
	// Output:
	// allowed by ["look"], denied by [], undecided ""
	// allowed by [], denied by [{"no-net" "curl http://x"}], undecided ""
	// allowed by [], denied by [], undecided ""
	// allowed by [], denied by [], undecided "the name of a program is computed: … y"
}
