package toolkit

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/command"
	"github.com/urfave/cli/v2"
)

// The command policy: what is wrong with a policy file, what it decides and why, whether it decides
// what it should.

func (r *run) policyCommand() *cli.Command {
	return &cli.Command{
		Name: "policy", Usage: "look at what decides which calls run", ArgsUsage: "check FILE | explain | test FILE CASES | schema",
		Description: "check FILE     says what is wrong with a policy, with --strict also what looks so\n" +
			"explain        says what is decided about a call of --tool with --args, and why; nothing runs\n" +
			"test FILE CASES  holds a policy against calls: a YAML or JSON list of\n" +
			"               {tool, args, paths, commands, principal, scopes, transport, want}\n" +
			"schema         prints the JSON Schema of policies",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "check: what looks like a mistake is one"},
			&cli.StringFlag{Name: "tool", Usage: "explain: the `TOOL` that is called, by its canonical name"},
			&cli.StringFlag{Name: "args", Usage: "explain: its arguments, `JSON` or @FILE", Value: "{}"},
			&cli.StringFlag{Name: "principal", Usage: "explain: who calls, a `NAME` (default: local over stdio, anonymous over HTTP)"},
			&cli.StringSliceFlag{Name: "scope", Usage: "explain: a `SCOPE` of the caller's token; can be repeated"},
			&cli.StringFlag{Name: "transport", Usage: "explain: `HOW` the call comes, stdio or http", Value: approval.Stdio},
		},
		Action: r.policy,
	}
}

func (r *run) policy(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return usagef("policy: want check, explain, test or schema")
	}
	commands := map[string]struct {
		words int
		what  string
		do    func(*cli.Context, []string) error
	}{
		"check":   {1, "FILE", r.policyCheck},
		"explain": {0, "no arguments but its flags", r.policyExplain},
		"test":    {2, "FILE CASES", r.policyTest},
		"schema":  {0, "no arguments", r.policySchema},
	}
	cmd, ok := commands[words[0]]
	switch {
	case !ok:
		return usagef("policy: unknown command %q: want check, explain, test or schema", words[0])
	case len(words)-1 != cmd.words:
		return usagef("policy %s: want %s", words[0], cmd.what)
	}
	return cmd.do(c, words[1:])
}

// policySchema prints the schema.
func (r *run) policySchema(*cli.Context, []string) error {
	if _, err := r.std.Out.Write(approval.Schema()); err != nil {
		return fmt.Errorf("policy schema: print: %w", err)
	}
	return nil
}

// policyCheck says what is wrong with a policy.
func (r *run) policyCheck(c *cli.Context, words []string) error {
	s, err := r.build(c)
	if err != nil {
		return err
	}
	path := words[0]
	p, warnings, err := approval.Load(path, s.parsing(c.Bool("strict")))
	if err != nil {
		fmt.Fprintln(r.std.Err, inFile(path, err))
		r.code = exitFailure
		return nil
	}
	for _, w := range warnings {
		fmt.Fprintf(r.std.Err, "warning: %s\n", placed(path, w))
	}
	fmt.Fprintf(r.std.Out, "%s is valid, revision %s\n", path, p.Revision())
	return nil
}

// An explanation is what would be decided about a call.
type explanation struct {
	Decision   string          `json:"decision"`
	Rule       string          `json:"rule"` // that decided
	Rules      []string        `json:"rules"`
	Reason     string          `json:"reason"`
	Revision   string          `json:"revision"`             // "" of what is built in
	Unattended string          `json:"unattended,omitempty"` // what an ask becomes where nobody can be asked
	Hidden     bool            `json:"hidden,omitempty"`     // the caller is not shown the tool
	Commands   []command.Part  `json:"commands,omitempty"`   // simple commands in what would run
	Action     approval.Action `json:"action"`
	Warnings   []string        `json:"warnings,omitempty"`
	Error      string          `json:"error,omitempty"` // why the call could not run even if it were allowed
}

// policyExplain prints what is decided about a call. It takes the way of a call up to its decision.
func (r *run) policyExplain(c *cli.Context, _ []string) error {
	tool, who := c.String("tool"), approval.Caller{Principal: c.String("principal"), Scopes: c.StringSlice("scope"), Transport: c.String("transport")}
	if who.Transport != approval.Stdio && who.Transport != approval.HTTP {
		return usagef("policy explain: --transport %q: want stdio or http", who.Transport)
	}
	if who.Principal == "" {
		who.Principal = map[string]string{approval.Stdio: approval.Local, approval.HTTP: approval.Anonymous}[who.Transport]
	}
	args, err := jsonArgument(c.String("args"))
	if err != nil {
		return usagef("policy explain: --args: %w", err)
	}
	s, err := r.server(c)
	if err != nil {
		return err
	}
	if err := s.servesCanonical(tool); err != nil {
		return usagef("policy explain: --tool: %w", err)
	}
	e, err := s.explanation(c.Context, who, tool, args)
	if err != nil {
		return usagef("policy explain: %w", err)
	}
	return printJSON(r.std.Out, e)
}

// jsonArgument reads JSON in place, or of a file named behind @.
func jsonArgument(word string) (json.RawMessage, error) {
	data := []byte(word)
	if name, isFile := strings.CutPrefix(word, "@"); isFile {
		var err error
		if data, err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	if !json.Valid(data) {
		var v any
		return nil, fmt.Errorf("no valid JSON: %w", json.Unmarshal(data, &v))
	}
	return data, nil
}

func (s *Server) servesCanonical(tool string) error {
	if s.works[tool] != nil {
		return nil
	}
	var served []string
	for _, name := range s.known {
		if s.works[name] != nil {
			served = append(served, name)
		}
	}
	return fmt.Errorf("no tool is called %q here; there are: %s", tool, strings.Join(served, ", "))
}

// explanation plans a call and has it judged. Limits are looked at and not used up. An error
// is one of the arguments.
func (s *Server) explanation(ctx context.Context, who approval.Caller, tool string, args json.RawMessage) (*explanation, error) {
	p, warnings, err := s.planFor(ctx, who, tool, args)
	if err != nil {
		return nil, err
	}
	defer p.close()
	v := s.opts.Evaluator.Evaluate(ctx, who, p.action)
	e := &explanation{
		Decision: v.Decision.String(), Rule: v.Rule, Rules: append([]string{}, v.Rules...), Reason: v.Reason, Revision: v.Revision,
		Hidden: s.opts.Evaluator.Hides(who, tool), Commands: v.Commands, Action: p.action, Warnings: warnings,
	}
	if sh := p.action.Shell; sh != nil && e.Commands == nil {
		e.Commands = command.Judge(command.Input{Commands: sh.Commands, Dialect: sh.Dialect, Dir: sh.Dir, Env: sh.Env, Stdin: sh.Stdin}, nil).Parts
	}
	if e.Hidden {
		e.Decision = approval.Deny.String()
	}
	if v.Decision == approval.Ask && !e.Hidden {
		e.Unattended = v.Asking.Unattended.String()
	}
	if p.err != nil {
		e.Error = s.explain(ctx, &Definition{Name: tool}, p.err)
	}
	return e, nil
}

// planFor plans a call as a client's would be planned, and runs nothing.
func (s *Server) planFor(ctx context.Context, who approval.Caller, tool string, args json.RawMessage) (p *planned, warnings []string, err error) {
	d, err := s.works[tool](args)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, DefaultDeadline)
	defer cancel()
	return d.plan(ctx, &Call{Caller: who}), d.warnings, nil
}
