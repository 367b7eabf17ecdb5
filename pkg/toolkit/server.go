package toolkit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"
	"github.com/toolhost/toolhost/pkg/approval"
	"github.com/toolhost/toolhost/pkg/approval/seal"
)

// The limits that hold where [Options] leaves them out.
const (
	DefaultMaxOutput     = 48 << 10 // bytes of text in a result
	DefaultMaxResult     = 900_000  // bytes of a whole result
	DefaultMaxConcurrent = 32       // calls that run at once; more wait
	DefaultDeadline      = 60 * time.Second
)

// Options configure a [Server]. The zero value of each field is the documented default.
type Options struct {
	Name         string             // program name, such as mcp-files
	Version      string             // "devel" when empty
	Instructions string             // for the model, about the server as a whole
	Evaluator    approval.Evaluator // approval.Default when nil
	Log          zerolog.Logger     // nothing is logged when zero
	MaxOutput    int
	Concurrent   int
	Names        Names
	Keys         *seal.Ring      // of approvals that clients hold; nil: a new one, which no other process has
	Nonces       seal.NonceStore // which of these were used; in memory when nil
}

// A Server serves tools. It is safe for concurrent use once all tools are added.
type Server struct {
	opts     Options
	mcp      *mcp.Server
	slots    chan struct{}
	sessions sessions
	closing  closing
	memory   approval.Memory
	pending  pending
	reach    *outOfReach // of the policy file; nil where there is none
	known    []string    // canonical names, in the order added
	tools    []string    // names as shown, of those that are served

	canonical map[string]string         // name as shown -> canonical name
	facts     map[string]approval.Facts // by canonical name
	works     map[string]work           // of the tools that are served, by canonical name
}

// NewServer returns a server without tools.
func NewServer(o Options) (*Server, error) {
	if err := o.Names.check(); err != nil {
		return nil, err
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Evaluator == nil {
		o.Evaluator = approval.Default()
	}
	if o.MaxOutput == 0 {
		o.MaxOutput = DefaultMaxOutput
	}
	if o.Concurrent == 0 {
		o.Concurrent = DefaultMaxConcurrent
	}
	if o.Keys == nil {
		o.Keys = seal.RandomRing()
	}
	if o.Nonces == nil {
		o.Nonces = &seal.Nonces{}
	}
	s := &Server{opts: o, slots: make(chan struct{}, o.Concurrent), canonical: map[string]string{}, facts: map[string]approval.Facts{}, works: map[string]work{}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ServerOptions{
		Instructions: o.Instructions,
		Logger:       newBridge(o.Log),
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
		SetCacheable: private,
		//lint:ignore SA1019 clients before 2026-07-28 have roots
		RootsListChangedHandler: s.sessions.rootsChanged,
	})
	s.mcp.AddReceivingMiddleware(s.guard)
	return s, nil
}

// MCP returns the SDK's server, for what toolkit does not cover. A tool that is added to
// it directly is refused when called.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// budget is what a result may cost.
func (s *Server) budget() Budget {
	return Budget{Text: s.opts.MaxOutput, All: max(DefaultMaxResult, 2*s.opts.MaxOutput)}
}

// Names says under which names tools are shown. Policies and logs use the canonical
// names whatever is shown.
type Names struct {
	Only   []string          // canonical names of the tools to serve; empty: all
	Rename map[string]string // canonical name -> name to show
	Prefix string            // put before every name
}

func (n Names) check() error {
	if n.Prefix != "" && !toolName.MatchString(n.Prefix) {
		return fmt.Errorf("tool prefix %q: want 1 to 24 characters of A-Z, a-z, 0-9 and _", n.Prefix)
	}
	for old, shown := range n.Rename {
		if !toolName.MatchString(shown) {
			return fmt.Errorf("tool name %q for %s: want 1 to 24 characters of A-Z, a-z, 0-9 and _", shown, old)
		}
	}
	return nil
}

// shown returns the name for a tool, or false where the tool is not to be served.
func (n Names) shown(canonical string) (string, bool) {
	name := canonical
	if to, ok := n.Rename[canonical]; ok {
		name = to
	}
	if len(n.Only) > 0 && !slices.Contains(n.Only, canonical) && !slices.Contains(n.Only, name) {
		return "", false
	}
	return n.Prefix + name, true
}

// unused returns the names in Only and Rename that fit none of the canonical names.
func (n Names) unused(canonical []string) []string {
	var out []string
	known := slices.Clone(canonical)
	for _, c := range canonical {
		if to, ok := n.Rename[c]; ok {
			known = append(known, to)
		}
	}
	for _, o := range n.Only {
		if !slices.Contains(known, o) {
			out = append(out, o)
		}
	}
	for old := range n.Rename {
		if !slices.Contains(canonical, old) {
			out = append(out, old)
		}
	}
	slices.Sort(out)
	return out
}

// Shown returns the name under which clients see a tool, and whether it is served, also before
// it is added.
func (s *Server) Shown(canonical string) (name string, ok bool) { return s.opts.Names.shown(canonical) }

// checkNames reports names in the options that no tool has.
func (s *Server) checkNames() error {
	if bad := s.opts.Names.unused(s.known); len(bad) > 0 {
		return fmt.Errorf("no tool is called %s; there are: %s", strings.Join(bad, ", "), strings.Join(s.known, ", "))
	}
	return nil
}
