package imagetool

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/internal/imagetool/provider/sketch"
	"github.com/toolhost/toolhost/pkg/fsroot"
	"github.com/urfave/cli/v2"
)

// The defaults that are this program's own.
const (
	defaultMaxN      = 10
	defaultMaxPixels = 3840 * 2160
	defaultUpstream  = 4
	defaultKeep      = "1000,4g"
)

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "provider", Usage: "auto, openai or sketch; auto is openai where a key or --base-url is given, else sketch", Value: "auto"},
		&cli.StringFlag{Name: "base-url", Usage: "`URL` of an Images API, its version included (default: " + openai.DefaultBaseURL + ")"},
		&cli.StringFlag{Name: "api-key-file", Usage: "the provider's key is in `FILE` (default: MCP_IMAGE_API_KEY or OPENAI_API_KEY in the environment)", TakesFile: true},
		&cli.StringFlag{Name: "server-profile", Usage: "`KIND` of server: " + strings.Join(openai.Profiles(), ", ") + " (default: by its address)"},
		&cli.StringFlag{Name: "model", Usage: "`MODEL` of calls that name none (default: the server's)"},
		&cli.StringSliceFlag{Name: "allow-models", Usage: "`MODEL` that calls may name besides, or * for any; can be repeated, or a list with commas"},
		&cli.StringFlag{Name: "size", Usage: "`WIDTHxHEIGHT` of calls that name none, or auto"},
		&cli.StringFlag{Name: "quality", Usage: "`QUALITY` of calls that name none, such as low, medium or high"},
		&cli.StringFlag{Name: "background", Usage: "of calls that name none: auto, opaque or transparent"},
		&cli.StringFlag{Name: "format", Usage: "of calls that name none: png, jpeg, webp, gif or svg"},
		&cli.StringFlag{Name: "moderation", Usage: "of calls that name none: auto or low"},
		&cli.IntFlag{Name: "max-n", Usage: "pictures a call, at most `N`", Value: defaultMaxN},
		&cli.IntFlag{Name: "max-pixels", Usage: "pixels a picture that is asked for by size, at most `N`", Value: defaultMaxPixels},
		&cli.StringSliceFlag{Name: "lock", Usage: "`OPTION` that calls may not change: " + strings.Join(lockable, ", ") + "; can be repeated, or a list with commas"},
		&cli.StringFlag{Name: "output-dir", Usage: "save pictures in `DIR` (default: toolhost/images in $XDG_DATA_HOME or ~/.local/share)", TakesFile: true},
		&cli.StringFlag{Name: "keep", Usage: "saved pictures at most, `COUNT,SIZE` or either; the oldest go first; all keeps all", Value: defaultKeep},
		&cli.StringFlag{Name: "result-format", Usage: "mcp: text, picture and link; openai: one block of JSON for gateways; auto: as the header " + formHeader + " says, else mcp", Value: "auto"},
		&cli.DurationFlag{Name: "soft-timeout", Usage: "answer after `TIME` with a job to be collected later (default: wait)"},
		&cli.IntFlag{Name: "max-upstream", Usage: "requests to the provider at once, `N`; more wait", Value: defaultUpstream},
	}
}

// lockable are the options of --lock.
var lockable = []string{"model", "size", "quality", "background", "format", "moderation"}

// settings are the flags, checked.
type settings struct {
	rules     provider.Provider // for its models; also the provider itself, unless there is a key file
	options   openai.Options    // of another one with the key in the file
	keyFile   string
	needsKey  bool   // and has none
	host      string // of the provider
	bought    bool   // pictures may cost money
	model     string
	models    []string // that calls may name; "*" is any
	defaults  imageIn  // size, quality, background, format and moderation
	locked    []string
	maxN      int
	maxPixels int
	operator  *fsroot.Set
	dir       string // absolute, or "" where there is none to be found
	keep      limits
	form      form // "" is auto
	soft      time.Duration
	upstream  int
}

// sketches reports whether pictures are drawn by ourselves.
func (s *settings) sketches() bool { return s.rules.Name() == sketch.Name }

// readSettings checks the flags. It looks at nothing but them and the environment.
func readSettings(c *cli.Context) (*settings, error) {
	s := &settings{
		keyFile: c.String("api-key-file"), model: c.String("model"), operator: fsroot.NewSet(c.StringSlice("root")...),
		maxN: c.Int("max-n"), maxPixels: c.Int("max-pixels"), soft: c.Duration("soft-timeout"), upstream: c.Int("max-upstream"),
	}
	for _, check := range []func(*cli.Context) error{s.readProvider, s.readModels, s.readDefaults, s.readLock, s.readLimits, s.readOutput} {
		if err := check(c); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// keyOf returns the key in the environment, and checks that it was filled in: launchers leave a
// mark in the place of a secret that they do not have.
func keyOf() (string, error) {
	for _, name := range []string{"MCP_IMAGE_API_KEY", "OPENAI_API_KEY"} {
		key := strings.TrimSpace(os.Getenv(name))
		if key == "<UNKNOWN>" || strings.HasPrefix(key, "${") {
			return "", fmt.Errorf("%s holds a placeholder, not a key: give the launcher the secret, or leave the variable out", name)
		}
		if key != "" {
			return key, nil
		}
	}
	return "", nil
}

func (s *settings) readProvider(c *cli.Context) error {
	kind, err := oneOf(c, "provider", "auto", "openai", "sketch")
	if err != nil {
		return err
	}
	key, err := keyOf()
	if err != nil {
		return err
	}
	s.options = openai.Options{
		BaseURL: c.String("base-url"), Profile: c.String("server-profile"), APIKey: key, Model: s.model,
	}
	// Checked also where it is not used: a mistake must not turn up later.
	p, err := openai.New(s.options)
	if err != nil {
		return fmt.Errorf("--base-url, --server-profile: %w", err)
	}
	if kind == "sketch" || kind == "auto" && key == "" && s.keyFile == "" && s.options.BaseURL == "" {
		s.rules = sketch.Provider{}
		return nil
	}
	address, err := url.Parse(cmp.Or(s.options.BaseURL, openai.DefaultBaseURL))
	if err != nil {
		return errors.New("--base-url cannot be parsed") // New has said so
	}
	s.rules, s.host = p, address.Host
	s.bought = !isLoopback(address.Hostname())
	s.needsKey = key == "" && s.keyFile == "" && s.options.BaseURL == ""
	return nil
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// modelName is what a model can be called: names of files, deployments and repositories too.
var modelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]*$`)

const longestModel = 128 // characters

func isModel(name string) bool { return len(name) <= longestModel && modelName.MatchString(name) }

func (s *settings) readModels(c *cli.Context) error {
	s.models = commas(c.StringSlice("allow-models"))
	for _, m := range s.models {
		if m != "*" && !isModel(m) {
			return fmt.Errorf("--allow-models %q: want names of models, or *", m)
		}
	}
	if s.model != "" && !isModel(s.model) {
		return fmt.Errorf("--model %q: want the name of a model, such as gpt-image-2", s.model)
	}
	return nil
}

// readDefaults checks the options of calls by the rules of calls.
func (s *settings) readDefaults(c *cli.Context) error {
	s.defaults = imageIn{
		Prompt: "a prompt", Size: c.String("size"), Quality: c.String("quality"), Background: c.String("background"),
		OutputFormat: c.String("format"), Moderation: c.String("moderation"),
	}
	for flag, allowed := range map[string][]string{"background": backgrounds, "moderation": moderations} {
		if v := c.String(flag); v != "" && !slices.Contains(allowed, v) {
			return fmt.Errorf("--%s %q: want %s", flag, v, list(allowed))
		}
	}
	trial := *s
	trial.maxN, trial.maxPixels = defaultMaxN, defaultMaxPixels
	k := check{settings: &trial, in: s.defaults}
	if err := k.all(); err != nil {
		return fmt.Errorf("--size, --quality, --background, --format: %w", err)
	}
	return nil
}

func (s *settings) readLock(c *cli.Context) error {
	s.locked = commas(c.StringSlice("lock"))
	for _, name := range s.locked {
		if !slices.Contains(lockable, name) {
			return fmt.Errorf("--lock %q: want %s", name, list(lockable))
		}
	}
	return nil
}

func (s *settings) readLimits(*cli.Context) error {
	switch {
	case s.maxN < 1 || s.maxN > defaultMaxN:
		return fmt.Errorf("--max-n %d: want 1 to %d", s.maxN, defaultMaxN)
	case s.maxPixels < 16*16 || s.maxPixels > 100_000_000:
		return fmt.Errorf("--max-pixels %d: want 256 to 100000000", s.maxPixels)
	case s.soft < 0 || s.soft > deadline:
		return fmt.Errorf("--soft-timeout %s: want 0 to %s", s.soft, deadline)
	case s.upstream < 1 || s.upstream > 1000:
		return fmt.Errorf("--max-upstream %d: want 1 to 1000", s.upstream)
	}
	return nil
}

func (s *settings) readOutput(c *cli.Context) (err error) {
	switch f := c.String("result-format"); f {
	case "auto", "":
	default:
		if s.form, err = parseForm(f); err != nil {
			return fmt.Errorf("--result-format %q: want auto, mcp or openai", f)
		}
	}
	if s.keep, err = parseKeep(c.String("keep")); err != nil {
		return err
	}
	if s.dir = c.String("output-dir"); s.dir == "" {
		s.dir = dataDir()
	} else if s.dir, err = filepath.Abs(s.dir); err != nil {
		return fmt.Errorf("--output-dir: %w", err)
	}
	return nil
}

// dataDir returns the usual place for pictures, or "" where the environment names no home. It
// is never the working directory: desktop clients start servers in /.
func dataDir() string {
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolhost", "images")
	}
	home, err := os.UserHomeDir()
	if err != nil || !filepath.IsAbs(home) {
		return ""
	}
	return filepath.Join(home, ".local", "share", "toolhost", "images")
}

// limits are what is kept; 0 is no limit.
type limits struct {
	count int
	bytes int64
}

var keepForm = regexp.MustCompile(`^(\d{1,9})([kmgt]b?)?$`)

// parseKeep reads COUNT,SIZE or either; a size has a unit.
func parseKeep(text string) (l limits, err error) {
	bad := fmt.Errorf("--keep %q: want a count, a size or both, such as 1000,4g; or all", text)
	if text == "all" {
		return l, nil
	}
	for part := range strings.SplitSeq(strings.ToLower(text), ",") {
		m := keepForm.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return l, bad
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		switch {
		case err != nil || n == 0:
			return l, bad
		case m[2] == "" && l.count == 0:
			l.count = int(n)
		case m[2] != "" && l.bytes == 0:
			l.bytes = n << (10 * (1 + strings.IndexByte("kmgt", m[2][0])))
		default:
			return l, bad
		}
	}
	return l, nil
}

func oneOf(c *cli.Context, flag string, allowed ...string) (string, error) {
	v := cmp.Or(c.String(flag), allowed[0])
	if !slices.Contains(allowed, v) {
		return "", fmt.Errorf("--%s %q: want %s", flag, v, list(allowed))
	}
	return v, nil
}

// commas takes lists apart.
func commas(values []string) (out []string) {
	for _, v := range values {
		for one := range strings.SplitSeq(v, ",") {
			if one = strings.TrimSpace(one); one != "" {
				out = append(out, one)
			}
		}
	}
	return out
}

// list returns "a, b or c".
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
