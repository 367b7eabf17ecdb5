package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// maxPolicy bounds the size of a policy file, and of a file of cases, in bytes.
const maxPolicy = 1 << 20

// maxRules and maxLimits bound what a policy holds.
const (
	maxRules  = 2000
	maxLimits = 100
)

// DefaultSessionTTL is for how long an answer counts in a session where remember allows it and
// session_ttl does not say.
const DefaultSessionTTL = 30 * time.Minute

// ParseOptions say how a policy is looked at.
type ParseOptions struct {
	// Tools are the canonical names that rules can be about; a rule for none of them is a warning.
	// Nil leaves that unchecked.
	Tools []string
	// Known are those of the tools of which more is known: a condition that none of a rule's tools can
	// meet is a warning, where all of them are known.
	Known  map[string]Facts
	Strict bool // warnings are errors
}

// Facts are what is known of a tool's actions before there is one.
type Facts struct {
	Arguments []string // names in [Action.Args]
	Effect    Effect
}

// Load reads the policy file at path, at most 1 MiB. Warnings and errors are those of [Parse].
func Load(path string, o ParseOptions) (*Policy, Problems, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, fmt.Errorf("policy %s: %w", path, err)
	}
	return Parse(data, o)
}

// readFile reads a regular file of at most maxPolicy bytes.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, pathCause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, pathCause(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPolicy+1))
	if err != nil {
		return nil, pathCause(err)
	}
	if len(data) > maxPolicy {
		return nil, fmt.Errorf("it is larger than %d bytes", maxPolicy)
	}
	return data, nil
}

// Parse reads a policy: YAML as the schema of [Schema] says. It returns all that is wrong at once,
// as far as that can be said, as [Problems]; what is no mistake and looks like one, as warnings.
// The examples in the policy's rules are run.
func Parse(data []byte, o ParseOptions) (p *Policy, warnings Problems, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, warnings, err = nil, nil, Problems{{Text: fmt.Sprintf("the policy cannot be read: %v", r)}}
		}
	}()
	r := &reader{}
	if len(data) > maxPolicy {
		r.addf(nil, "the policy is larger than %d bytes", maxPolicy)
		return nil, nil, r.err()
	}
	doc := r.document(data)
	if doc == nil {
		return nil, nil, r.err()
	}
	p = r.policy(doc)
	if r.err() == nil {
		p.compile()
		p.runExamples(r)
	}
	if r.err() == nil {
		r.againstSchema(doc)
	}
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	warnings = p.lint(o)
	if o.Strict && len(warnings) > 0 {
		return nil, nil, warnings
	}
	p.revision = revision(data)
	return p, warnings, nil
}

// revision names a version of a file: the first 12 hexadecimal digits of its SHA-256.
func revision(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

func (r *reader) policy(doc *yaml.Node) *Policy {
	p := &Policy{}
	m, ok := r.mapping(doc, "policy", "version", "default", "unattended", "ask", "rules", "limits", "audit")
	if !ok {
		return p
	}
	r.require(m, map[string]string{"version": "version: 1", "default": "default: ask, deny or allow: what happens where no rule matches"})
	if n := m.values["version"]; n != nil && (n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || n.Value != "1") {
		r.addf(n, "version: this program reads version 1 only: write version: 1")
	}
	if n := m.values["default"]; n != nil {
		p.fallback = r.decision(n, "default", "deny", "ask", "allow")
	}
	if n := m.values["unattended"]; n != nil {
		p.asking.Unattended = r.decision(n, "unattended", "deny", "allow")
	}
	if n := m.values["ask"]; n != nil {
		r.asking(n, &p.asking)
	}
	if n := m.values["rules"]; n != nil {
		p.rules = r.rules(n)
	}
	if n := m.values["limits"]; n != nil {
		p.limits = r.limits(n)
	}
	if n := m.values["audit"]; n != nil {
		r.addf(n, "audit: there is no audit log yet, and nobody should believe that calls are recorded: take the section out")
	}
	r.uniqueIDs(p)
	return p
}

// decision reads one of words, which are decisions.
func (r *reader) decision(n *yaml.Node, what string, words ...string) Decision {
	switch r.choice(n, what, words...) {
	case "allow":
		return Allow
	case "ask":
		return Ask
	}
	return Deny
}

func (r *reader) asking(n *yaml.Node, a *Asking) {
	m, ok := r.mapping(n, "ask", "timeout", "remember", "session_ttl", "max_pending")
	if !ok {
		return
	}
	if n := m.values["timeout"]; n != nil {
		a.Timeout = r.duration(n, "ask: timeout")
	}
	remembers := false
	if n := m.values["remember"]; n != nil {
		remembers = r.remember(n)
	}
	if remembers {
		a.Session = DefaultSessionTTL
	}
	switch n := m.values["session_ttl"]; {
	case n != nil && !remembers:
		r.addf(n, "ask: session_ttl counts only where answers are remembered: add remember: [once, session], or leave it out")
	case n != nil:
		a.Session = r.duration(n, "ask: session_ttl")
	}
	if n := m.values["max_pending"]; n != nil {
		a.MaxPending = r.integer(n, "ask: max_pending", 1, 100)
	}
}

// remember reads for how long an answer may count, and reports whether that is longer than once.
func (r *reader) remember(n *yaml.Node) (session bool) {
	var seen []string
	for _, c := range r.items(n, "ask: remember", 0) {
		s := r.choice(c, "ask: remember", "once", "session")
		if slices.Contains(seen, s) {
			r.addf(c, "ask: remember: %s is given twice: keep one", s)
		}
		seen = append(seen, s)
	}
	return slices.Contains(seen, "session")
}

var durationText = regexp.MustCompile(`^[0-9]+(ms|s|m|h)$`)

// duration reads a time such as 90s, more than 0.
func (r *reader) duration(n *yaml.Node, what string) time.Duration {
	s, ok := r.text(n, what)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 || !durationText.MatchString(s) {
		r.addf(n, "%s: %q: want a time greater than 0, a whole number with its unit: 500ms, 90s, 30m or 12h", what, s)
	}
	return d
}

func (r *reader) limits(n *yaml.Node) (out []*limit) {
	items := r.items(n, "limits", 0)
	if len(items) > maxLimits {
		r.addf(n, "limits: %d of them, at most %d", len(items), maxLimits)
	}
	for _, item := range items {
		out = append(out, r.limit(item))
	}
	return out
}

func (r *reader) limit(n *yaml.Node) *limit {
	l := &limit{line: n.Line, buckets: newBuckets()}
	what := "limit " + nameOf(n)
	m, ok := r.mapping(n, what, "id", "tools", "principals", "max", "per", "key", "over")
	if !ok {
		return l
	}
	r.require(m, map[string]string{"id": "id: and a name", "tools": `tools: such as ["*"]`, "max": "max: and how many", "per": "per: and a time, such as 1h"})
	if n := m.values["id"]; n != nil {
		l.id = r.id(n, what)
	}
	if n := m.values["tools"]; n != nil {
		l.tools = r.tools(n, what)
	}
	if n := m.values["principals"]; n != nil {
		l.principals = r.texts(n, what+": principals")
	}
	if n := m.values["max"]; n != nil {
		l.max = r.integer(n, what+": max", 0, 1_000_000_000)
	}
	if n := m.values["per"]; n != nil {
		l.per = r.duration(n, what+": per")
	}
	if n := m.values["key"]; n != nil {
		l.shared = r.choice(n, what+": key", "principal", "server") == "server"
	}
	if n := m.values["over"]; n != nil {
		l.over = r.decision(n, what+": over", "deny", "ask")
	}
	return l
}

// nameOf returns the id of a rule or limit for problems, or its line.
func nameOf(n *yaml.Node) string {
	if n.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == "id" && isID(n.Content[i+1].Value) {
				return n.Content[i+1].Value
			}
		}
	}
	return "without an id"
}

var idText = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

const maxID = 64 // characters

func isID(s string) bool { return len(s) <= maxID && idText.MatchString(s) }

// reservedIDs name what decides where no rule does.
var reservedIDs = []string{ruleOfDefault, ruleOfUndecided, ruleOfMode, ruleOfRequest}

func (r *reader) id(n *yaml.Node, what string) string {
	s, ok := r.text(n, what+": id")
	switch {
	case ok && !isID(s):
		r.addf(n, "%s: id %q: want at most 64 of a-z, 0-9, . _ and -, the first a letter or digit", what, s)
	case slices.Contains(reservedIDs, s):
		r.addf(n, "%s: id %q is what decisions without a rule are called: take another", what, s)
	}
	return s
}

// tools reads globs of tool names.
func (r *reader) tools(n *yaml.Node, what string) names {
	globs := r.texts(n, what+": tools")
	for _, g := range globs {
		if strings.ContainsAny(g, `[]{}\/!`) {
			r.addf(n, "%s: tools: %q: names are matched by * and ? only: write each as an entry of its own", what, g)
		}
	}
	return globs
}

func (r *reader) uniqueIDs(p *Policy) {
	first := map[string]int{}
	see := func(id string, line int) {
		if was, twice := first[id]; twice && id != "" {
			r.addf(&yaml.Node{Line: line}, "id %s is used twice, first in line %d: verdicts and logs name a rule by it, so give each its own", id, was)
			return
		}
		first[id] = line
	}
	for _, one := range p.rules {
		see(one.id, one.line)
	}
	for _, one := range p.limits {
		see(one.id, one.line)
	}
}
