package search

import (
	"path"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A fileType is the names that files of a type have, as patterns of package path.
type fileType []string

func (t fileType) match(name string) bool {
	for _, p := range t {
		if suffix, ok := strings.CutPrefix(p, "*"); ok && !strings.ContainsAny(suffix, "*?[") {
			if strings.HasSuffix(name, suffix) {
				return true
			}
			continue
		}
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// maxTypeName is the length up to which similar names are looked for.
const maxTypeName = 64

// typeNamed returns the type of that name or alias.
func typeNamed(name string) (fileType, error) {
	if len(name) > maxTypeName {
		return nil, queryError(`glob selects by name, such as glob="*.go"`, "unknown file type: %d bytes are no name of one", len(name))
	}
	key := strings.ToLower(strings.TrimPrefix(name, "."))
	if long, ok := typeAliases[key]; ok {
		key = long
	}
	if t, ok := fileTypes[key]; ok {
		return strings.Fields(t), nil
	}
	similar := ""
	if near := fsroot.Nearest(slices.Collect(mapKeys(fileTypes, typeAliases)), key); near != nil {
		similar = "; similar: " + strings.Join(near, ", ")
	}
	return nil, queryError(`glob selects by name, such as glob="*.`+key+`"`, "unknown file type %q%s", name, similar)
}

func mapKeys(maps ...map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, m := range maps {
			for k := range m {
				if !yield(k) {
					return
				}
			}
		}
	}
}

// typeAliases are other names of types, mostly their extensions.
var typeAliases = map[string]string{
	"bash": "sh", "shell": "sh", "zsh": "sh", "c++": "cpp", "cc": "cpp", "cxx": "cpp", "hpp": "cpp", "h": "c",
	"cs": "csharp", "golang": "go", "javascript": "js", "jsx": "js", "mjs": "js", "typescript": "ts", "tsx": "ts",
	"kt": "kotlin", "makefile": "make", "md": "markdown", "mkd": "markdown", "objective-c": "objc", "pl": "perl",
	"proto": "protobuf", "ps1": "powershell", "ps": "powershell", "py": "python", "python3": "python", "rb": "ruby",
	"rs": "rust", "tf": "terraform", "hcl": "terraform", "tex": "latex", "yml": "yaml", "htm": "html", "ex": "elixir",
	"exs": "elixir", "erl": "erlang", "hs": "haskell", "clj": "clojure", "ml": "ocaml", "fs": "fsharp", "gql": "graphql",
	"dockerfile": "docker", "text": "txt", "asm": "assembly", "jl": "julia", "sass": "scss", "config": "ini", "cfg": "ini",
}

// fileTypes are the types: the names of their files, separated by spaces.
var fileTypes = map[string]string{
	"ada":        "*.adb *.ads",
	"asciidoc":   "*.adoc *.asc *.asciidoc",
	"assembly":   "*.asm *.s *.S",
	"awk":        "*.awk",
	"bazel":      "*.bazel *.bzl *.BUILD BUILD WORKSPACE MODULE.bazel",
	"c":          "*.c *.h *.H *.[chH].in *.cats",
	"clojure":    "*.clj *.cljc *.cljs *.cljx *.edn",
	"cmake":      "*.cmake CMakeLists.txt",
	"cpp":        "*.C *.H *.cc *.cpp *.cxx *.c++ *.h *.hh *.hpp *.hxx *.h++ *.inl *.[CH].in *.cc.in *.cpp.in *.hpp.in *.h.in",
	"csharp":     "*.cs",
	"css":        "*.css *.scss",
	"csv":        "*.csv",
	"cuda":       "*.cu *.cuh",
	"d":          "*.d",
	"dart":       "*.dart",
	"docker":     "*Dockerfile* Dockerfile* Containerfile *.dockerfile compose.yaml compose.yml docker-compose*.yml docker-compose*.yaml",
	"elixir":     "*.ex *.eex *.exs *.heex *.leex",
	"elm":        "*.elm",
	"erlang":     "*.erl *.hrl",
	"fortran":    "*.f *.F *.f77 *.F77 *.f90 *.F90 *.f95 *.F95 *.for *.pfo",
	"fsharp":     "*.fs *.fsx *.fsi",
	"go":         "*.go",
	"gradle":     "*.gradle *.gradle.kts gradle.properties gradlew gradlew.bat",
	"graphql":    "*.graphql *.graphqls *.gql",
	"groovy":     "*.groovy *.gradle",
	"haskell":    "*.hs *.lhs *.cpphs *.c2hs *.hsc",
	"html":       "*.htm *.html *.ejs",
	"ini":        "*.ini *.cfg *.conf *.config",
	"java":       "*.java *.jsp *.jspx *.properties",
	"js":         "*.js *.jsx *.mjs *.cjs *.vue",
	"json":       "*.json *.jsonc composer.lock",
	"jsonl":      "*.jsonl *.ndjson",
	"julia":      "*.jl",
	"jupyter":    "*.ipynb *.jpynb",
	"kotlin":     "*.kt *.kts",
	"latex":      "*.tex *.ltx *.cls *.sty *.bib *.dtx *.ins",
	"less":       "*.less",
	"lisp":       "*.el *.lisp *.lsp *.sc *.scm",
	"lock":       "*.lock package-lock.json go.sum pnpm-lock.yaml",
	"log":        "*.log",
	"lua":        "*.lua",
	"make":       "[Gg][Nn][Uu]makefile [Mm]akefile [Gg][Nn][Uu]makefile.am [Mm]akefile.am [Gg][Nn][Uu]makefile.in [Mm]akefile.in *.mk *.mak",
	"markdown":   "*.markdown *.md *.mdown *.mdwn *.mkd *.mkdn *.mdx",
	"nim":        "*.nim *.nimf *.nimble *.nims",
	"nix":        "*.nix",
	"objc":       "*.h *.m",
	"objcpp":     "*.h *.mm",
	"ocaml":      "*.ml *.mli *.mll *.mly",
	"pascal":     "*.pas *.dpr *.lpr *.pp *.inc",
	"perl":       "*.perl *.pl *.PL *.plh *.plx *.pm *.t",
	"php":        "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml",
	"powershell": "*.cdxml *.ps1 *.ps1xml *.psd1 *.psm1",
	"protobuf":   "*.proto",
	"python":     "*.py *.pyi",
	"r":          "*.r *.R *.Rmd *.Rnw",
	"rst":        "*.rst",
	"ruby":       "*.rb *.rbw *.gemspec *.rake .irbrc Gemfile Rakefile config.ru",
	"rust":       "*.rs",
	"scala":      "*.scala *.sbt",
	"scss":       "*.scss *.sass",
	"sh":         "*.sh *.bash *.zsh *.ksh *.csh *.tcsh .bashrc .bash_profile .bash_aliases .profile .zshrc .zprofile .zshenv",
	"sql":        "*.sql *.psql",
	"svelte":     "*.svelte",
	"svg":        "*.svg",
	"swift":      "*.swift",
	"terraform":  "*.tf *.tfvars *.tf.json *.hcl .terraformrc",
	"toml":       "*.toml Cargo.lock",
	"ts":         "*.ts *.tsx *.cts *.mts",
	"txt":        "*.txt",
	"verilog":    "*.v *.vh *.sv *.svh",
	"vim":        "*.vim .vimrc .gvimrc vimrc gvimrc",
	"vue":        "*.vue",
	"xml":        "*.xml *.xsd *.xsl *.xslt *.dtd *.rng *.sch *.xhtml *.xjb",
	"yaml":       "*.yaml *.yml",
	"zig":        "*.zig",
}
