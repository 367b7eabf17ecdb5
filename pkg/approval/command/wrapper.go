package command

import (
	"slices"
	"strings"
)

// A wrapper is a program that runs the command that its words end in.
type wrapper struct {
	flags    string   // letters of options without a value
	values   string   // letters of options whose value follows
	long     []string // long options; with = at the end those whose value may be the next word
	operands int      // words before the command
	optional bool     // they may be left out
	anywhere bool     // the command may begin at any word, since options take several
	assigns  bool     // NAME=VALUE may stand before the command
	joined   bool     // a shell reads the words, joined by blanks
}

// wrappers are those that are looked through for denies. An option that is not listed is taken both
// ways, with a value and without.
var wrappers = map[string]wrapper{
	"env": {flags: "i0v", values: "uC", assigns: true, long: []string{
		"ignore-environment", "null", "debug", "unset=", "chdir=", "block-signal", "default-signal", "ignore-signal", "list-signal-handling",
	}},
	"sudo": {flags: "ABbEeHiKklNnPSsVv", values: "CDghpRrTtUua", assigns: true, long: []string{
		"askpass", "background", "bell", "preserve-env", "edit", "set-home", "login", "remove-timestamp", "reset-timestamp", "list", "non-interactive",
		"preserve-groups", "stdin", "shell", "validate", "no-update", "close-from=", "chdir=", "group=", "host=", "prompt=", "chroot=", "role=", "command-timeout=", "type=",
		"other-user=", "user=", "login-class=", "auth-type=",
	}},
	"doas":    {flags: "nLs", values: "Cu"},
	"pkexec":  {long: []string{"user=", "disable-internal-agent", "keep-cwd"}},
	"runuser": {values: "ugGw", flags: "flmP"},
	"chroot":  {operands: 1, long: []string{"userspec=", "groups=", "skip-chdir"}},
	"xargs": {flags: "0rtopxeil", values: "adEILnPsJRS", long: []string{
		"null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty", "eof", "replace", "max-lines", "arg-file=", "delimiter=", "max-args=", "max-procs=",
		"max-chars=", "process-slot-var=", "show-limits",
	}},
	"timeout": {flags: "vpf", values: "ks", operands: 1, long: []string{"foreground", "preserve-status", "verbose", "kill-after=", "signal="}},
	"time":    {flags: "apqvV", values: "fo", long: []string{"append", "portability", "quiet", "verbose", "format=", "output="}},
	"nice":    {flags: "0123456789", values: "n", long: []string{"adjustment="}},
	"ionice":  {flags: "t", values: "cnpPu", long: []string{"class=", "classdata=", "pid=", "ignore"}},
	"stdbuf":  {values: "ioe", long: []string{"input=", "output=", "error="}},
	"taskset": {flags: "acp", operands: 1, long: []string{"all-tasks", "cpu-list", "pid"}},
	"chrt":    {flags: "abdefimoprRv", values: "TPD", operands: 1, optional: true},
	"setsid":  {flags: "cfw", long: []string{"ctty", "fork", "wait"}},
	"flock": {flags: "sxenuFov", values: "wE", operands: 1, long: []string{
		"shared", "exclusive", "unlock", "nonblock", "nb", "close", "no-fork", "verbose", "timeout=", "wait=", "conflict-exit-code=",
	}},
	"unshare": {flags: "imnpuUCTfrc", values: "RwSGl", long: []string{
		"ipc", "mount", "net", "pid", "uts", "user", "cgroup", "time", "fork", "map-root-user", "map-current-user", "map-auto", "kill-child", "mount-proc", "keep-caps",
		"map-user=", "map-group=", "map-users=", "map-groups=", "propagation=", "setgroups=", "root=", "wd=", "setuid=", "setgid=", "monotonic=", "boottime=",
	}},
	"nsenter": {flags: "aimnpuUCTrwFeZ", values: "tSGW", long: []string{
		"all", "ipc", "mount", "net", "pid", "uts", "user", "cgroup", "time", "root", "wd", "no-fork", "preserve-credentials", "target=", "setuid=", "setgid=", "wdns=",
	}},
	"watch": {flags: "bcdegtwCprx", values: "nqs", joined: true, long: []string{
		"beep", "color", "no-color", "differences", "errexit", "chgexit", "no-title", "no-wrap", "precise", "exec", "interval=", "equexit=",
	}},
	"ssh": {flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDEeFIiJLlmOopQRSWw", operands: 1, joined: true},
	"parallel": {flags: "0kmXtqvu", values: "jnNIaSL", joined: true, long: []string{
		"jobs=", "max-args=", "arg-file=", "sshlogin=", "colsep=", "delay=", "joblog=", "results=", "retries=", "timeout=", "workdir=", "keep-order", "dry-run", "verbose", "null", "bar", "eta", "progress", "ungroup",
	}},
	"busybox": {}, "toybox": {}, "nohup": {},
	"command": {flags: "pvV"}, "builtin": {}, "exec": {flags: "cl", values: "a"}, "coproc": {}, "noglob": {}, "nocorrect": {}, "-": {}, "--": {}, "{": {},
	"repeat": {operands: 1}, "strace": {flags: "cCdfFhikqrtTvVwxyz", values: "abeEIoOpPsSuUX"}, "ltrace": {values: "abeFlnopsuwxX", flags: "cCfhiLrStTV"},
	"gdb": {}, "valgrind": {}, "perf": {operands: 1}, "prlimit": {}, "setpriv": {}, "setarch": {operands: 1, optional: true, flags: "BFILRSTXZ3v"}, "numactl": {}, "cgexec": {values: "g"},
	"systemd-run": {}, "dbus-run-session": {}, "firejail": {}, "bwrap": {anywhere: true}, "fakeroot": {}, "unbuffer": {flags: "p"}, "rlwrap": {}, "entr": {},
	"torsocks": {}, "proxychains": {}, "proxychains4": {}, "catchsegv": {}, "capsh": {}, "start-stop-daemon": {}, "npx": {}, "uvx": {}, "bunx": {},
}

// More wrappers, of which a word or two say enough.
var moreWrappers = map[string]wrapper{
	"not": {}, "and": {}, "or": {}, "begin": {}, // of fish
	"linux32": {}, "linux64": {}, "i386": {}, "i686": {}, "x86_64": {}, "uname26": {}, "choom": {values: "np"},
	"sg": {operands: 1, joined: true}, "gosu": {operands: 1}, "su-exec": {operands: 1}, "setuidgid": {operands: 1}, "envuidgid": {operands: 1},
	"envdir": {operands: 1}, "softlimit": {}, "chpst": {}, "tini": {}, "dumb-init": {}, "eatmydata": {}, "xvfb-run": {}, "ssh-agent": {},
	"proot": {anywhere: true}, "cpulimit": {}, "nocache": {}, "chronic": {}, "ifne": {}, "tsocks": {}, "flatpak-spawn": {},
	"logsave": {operands: 1}, "sem": {joined: true}, "tmux": {operands: 1, joined: true}, "screen": {},
}

// wrapperOf returns how a program runs others. The loader does, too.
func wrapperOf(name string) (wrapper, bool) {
	if hasPrefix(name, "ld-linux", "ld-musl", "ld.so", "ld64.so") {
		return wrapper{long: []string{"preload=", "library-path=", "argv0=", "audit=", "inhibit-rpath=", "glibc-hwcaps-mask=", "glibc-hwcaps-prepend="}}, true
	}
	w, ok := wrappers[name]
	if !ok {
		w, ok = moreWrappers[name]
	}
	return w, ok
}

// starts returns where in args the command may begin, the likeliest first. That it begins with what
// may be an operand is less likely.
func (w wrapper) starts(args []text) (found, unlikely []int) {
	if w.anywhere {
		for i, a := range args {
			if a.computed || !isOption(a.value) {
				found = append(found, i)
			}
		}
		return found, nil
	}
	s := starts{wrapper: w, args: args, seen: map[[2]int]bool{}}
	s.from(0, w.operands)
	return s.found, s.unlikely
}

// begins reports whether a command may begin in args.
func (w wrapper) begins(args []text) bool {
	found, unlikely := w.starts(args)
	return len(found)+len(unlikely) > 0
}

type starts struct {
	wrapper
	args            []text
	seen            map[[2]int]bool
	found, unlikely []int
}

// from goes on at word i, with so many operands left before the command.
func (s *starts) from(i, left int) {
	options := true
	for ; i < len(s.args); i++ {
		if s.seen[[2]int{i, left}] {
			return
		}
		s.seen[[2]int{i, left}] = true
		a := s.args[i].value
		switch {
		case s.args[i].computed && left == 0: // the program, or an option
			s.found = append(s.found, i)
			s.from(i+1, 0)
			return
		case options && a == "--":
			options = false
		case options && isOption(a) && !s.args[i].computed:
			i += s.width(a, func() { s.from(i+2, left) }) - 1
		case s.assigns && (strings.IndexByte(a, '=') >= 0 || a == "-"): // whatever the name
		case left > 0:
			left--
			if s.optional {
				s.unlikely = append(s.unlikely, i)
			}
		default:
			s.found = append(s.found, i)
			return
		}
	}
}

// width returns how many words an option takes. Where that is not known it is one, and
// either is called for the other reading.
func (s *starts) width(option string, either func()) int {
	if strings.HasPrefix(option, "--") {
		name, _, attached := strings.Cut(option[2:], "=")
		return s.widthLong(name, attached, either)
	}
	for i, c := range option[1:] {
		switch {
		case strings.ContainsRune(s.values, c) && i == len(option)-2:
			return 2
		case strings.ContainsRune(s.values, c):
			return 1
		case !strings.ContainsRune(s.flags, c):
			defer either()
			return 1
		}
	}
	return 1
}

func (s *starts) widthLong(name string, attached bool, either func()) int {
	if attached {
		return 1
	}
	for _, long := range s.long {
		if strings.HasPrefix(long, name) { // any beginning will do
			return 1 + strings.Count(long, "=")
		}
	}
	defer either()
	return 1
}

// unwrap searches the commands that a wrapper may run.
func (r *reading) unwrap(w wrapper, words []text, p place) {
	name, args := base(words[0]), words[1:]
	found, unlikely := w.starts(args)
	if len(found) == 0 && slices.Contains(startShells, name) {
		r.stdin(name, variants("sh"), p)
	}
	for _, i := range append(found, unlikely...) {
		inner := args[i:]
		switch {
		case w.joined: // or not, as with `watch -x`
			r.evaluate(joined(inner), name, p)
			p.again = true
			r.call(inner, p.inside(name))
		case name == "xargs":
			r.call(append(replaced(args[:i], inner), computedText), p.inside(name))
		default:
			r.call(inner, p.inside(name))
		}
		p.again = true
	}
}

// startShells are wrappers that start a shell where they are given no command, or may be told to.
var startShells = []string{"sudo", "doas", "chroot", "unshare", "nsenter", "ssh", "runuser", "setarch"}

// replaced returns the words of a command for xargs: what it replaces is computed.
func replaced(options, inner []text) []text {
	marks := []string{"{}"}
	for i, o := range options {
		if mark, ok := strings.CutPrefix(o.value, "-I"); ok && mark != "" {
			marks = append(marks, mark)
		} else if ok && i+1 < len(options) {
			marks = append(marks, options[i+1].value)
		}
		for _, prefix := range []string{"-i", "--replace="} {
			if mark, ok := strings.CutPrefix(o.value, prefix); ok && mark != "" {
				marks = append(marks, mark)
			}
		}
	}
	out := slices.Clone(inner)
	for i := range out {
		for _, mark := range marks {
			if strings.Contains(out[i].value, mark) {
				out[i] = text{value: strings.ReplaceAll(out[i].value, mark, computedPart), computed: true}
			}
		}
	}
	return out
}

// A passage is a wrapper through which an allow passes, in its plain form.
type passage struct {
	flags, values []string
	operands      int
	assigns       bool
}

var passages = map[string]passage{
	"timeout": {flags: []string{"--foreground", "--preserve-status", "-v", "--verbose"}, values: []string{"-k", "-s", "--kill-after", "--signal"}, operands: 1},
	"nice":    {values: []string{"-n", "--adjustment"}},
	"env":     {assigns: true},
	"time":    {flags: []string{"-p"}},
	"nohup":   {},
	"command": {},
}

// passing returns the command inside of a wrapper in its plain form, and the variables that it
// sets. All words up to the command are static, and written by name.
func passing(words []text) (inner []text, names []string, ok bool) {
	way, ok := passages[words[0].value]
	if !ok {
		return nil, nil, false
	}
	left := way.operands
	for i := 1; i < len(words); i++ {
		w := words[i]
		name, _, attached := strings.Cut(w.value, "=")
		switch {
		case w.computed || w.value == "":
			return nil, nil, false
		case slices.Contains(way.flags, w.value), attached && strings.HasPrefix(name, "--") && slices.Contains(way.values, name):
		case slices.Contains(way.values, w.value) && i+1 < len(words) && !words[i+1].computed:
			i++
		case w.value[0] == '-':
			return nil, nil, false
		case way.assigns && attached:
			if !isName(name) {
				return nil, nil, false
			}
			names = append(names, name)
		case left > 0:
			left--
		default:
			return words[i:], names, true
		}
	}
	return nil, nil, false
}
