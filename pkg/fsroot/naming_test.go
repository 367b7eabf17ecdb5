package fsroot_test

import (
	"testing"

	"github.com/toolhost/toolhost/pkg/fsroot"
)

// TestNaming is cases 29 and 31, rule 4c.6, servers#1838, #1987, #1033, #470 (drive case),
// #3174 (file:///c%3A/) and #194 (forced lower case).
func TestNaming(t *testing.T) {
	tests := []struct {
		name       string
		on         fsroot.Naming
		root, path string
		rel        string
		refused    bool
	}{
		{"same", fsroot.Linux, "/R", "/R/a", "a", false},
		{"root", fsroot.Linux, "/R", "/R/", ".", false},
		{"prefix", fsroot.Linux, "/R", "/R-evil/a", "", true},
		{"top", fsroot.Linux, "/", "/a/b", "a/b", false},
		{"case differs", fsroot.Linux, "/users/x", "/Users/X/a", "", true},
		{"backslash is a letter", fsroot.Linux, "/R", `/R/a\b`, `a\b`, false},
		{"mac case", fsroot.Mac, "/users/x", "/Users/X/Ab", "Ab", false},
		{"mac forms", fsroot.Mac, "/R/caf\u00e9", "/r/cafe\u0301/a", "a", false},
		{"mac prefix", fsroot.Mac, "/R", "/r-evil/a", "", true},
		{"drive case", fsroot.Windows, `C:\R`, `c:\r\A.txt`, "A.txt", false},
		{"slashes", fsroot.Windows, `C:\R`, `C:/R\sub/a.txt`, "sub/a.txt", false},
		{"uri", fsroot.Windows, `C:\R`, "file:///c%3A/R/a%20b", "a b", false},
		{"uri plain", fsroot.Windows, `C:\R`, "file:///C:/R/a", "a", false},
		{"other drive", fsroot.Windows, `C:\R`, `D:\R\a`, "", true},
		{"drive root", fsroot.Windows, `C:\`, `c:\a\b`, "a/b", false},
		{"share", fsroot.Windows, `\\srv\share\R`, `//SRV/Share/r/a`, "a", false},
		{"other share", fsroot.Windows, `\\srv\share\R`, `\\srv\other\R\a`, "", true},
		{"dots", fsroot.Windows, `C:\R`, `C:\R\sub\..\a`, "a", false},
		{"dots out", fsroot.Windows, `C:\R`, `C:\R\..\S`, "", true},
		{"verbatim", fsroot.Windows, `C:\R`, `\\?\C:\R\a`, "", true},
		{"device", fsroot.Windows, `C:\R`, `\\.\C:\R\a`, "", true},
		{"nt", fsroot.Windows, `C:\R`, `\??\C:\R\a`, "", true},
		{"stream", fsroot.Windows, `C:\R`, `C:\R\a::$DATA`, "", true},
		{"nul", fsroot.Windows, `C:\R`, `C:\R\NUL`, "", true},
		{"nul in a directory", fsroot.Windows, `C:\R`, `C:\R\nul.txt\a`, "", true},
		{"port", fsroot.Windows, `C:\R`, `C:\R\com1.log`, "", true},
		{"port with a superscript", fsroot.Windows, `C:\R`, `C:\R\LPT²`, "", true},
		{"no port", fsroot.Windows, `C:\R`, `C:\R\com10`, "com10", false},
		{"no device", fsroot.Windows, `C:\R`, `C:\R\null`, "null", false},
		{"trailing dot", fsroot.Windows, `C:\R`, `C:\R\a.txt.`, "", true},
		{"trailing space", fsroot.Windows, `C:\R`, `C:\R\a.txt `, "", true},
		{"wildcard", fsroot.Windows, `C:\R`, `C:\R\a*`, "", true},
		{"drive-relative", fsroot.Windows, `C:\R`, `C:R\a`, "", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rel, refused := tt.on.Map(tt.root, tt.path)
			if (refused != "") != tt.refused || (refused == "" && rel != tt.rel) {
				t.Errorf("%q below %q: %q, refused %q; want %q", tt.path, tt.root, rel, refused, tt.rel)
			}
		})
	}
}

// TestSpelling: where a volume folds names, policies see the stored one.
func TestSpelling(t *testing.T) {
	tr := plant(t, ".env", "a.txt")
	if got, err := fsroot.Spelling(fsroot.NewSet(tr.root), ".env"); err != nil || got != ".env" {
		t.Errorf("spelling: %q, %v", got, err)
	}
}
