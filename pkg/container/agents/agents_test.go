package agents_test

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/pkg/container/agents"
)

// maxSize is that of a program, in bytes: it is copied to each engine.
const maxSize = 3 << 20

func TestPrograms(t *testing.T) {
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(arch, func(t *testing.T) {
			a, ok := agents.For(arch)
			if !ok {
				t.Fatal("there is none")
			}
			program, err := a.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if sum := sha256.Sum256(program); hex.EncodeToString(sum[:]) != a.SHA256 || int64(len(program)) != a.Size {
				t.Errorf("%d bytes with hash %x, want %d with %s", len(program), sum, a.Size, a.SHA256)
			}
			if len(program) > maxSize {
				t.Errorf("%d bytes, at most %d", len(program), maxSize)
			}
			if !bytes.Contains(program, []byte(a.Build)) || len(a.Build) != 2*sha256.Size {
				t.Errorf("the program does not say that it is %q", a.Build)
			}
			f, err := elf.NewFile(bytes.NewReader(program))
			if err != nil {
				t.Fatal(err)
			}
			if f.Machine != machine || f.Type != elf.ET_EXEC {
				t.Errorf("%v for %v", f.Type, f.Machine)
			}
			for _, p := range f.Progs {
				if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
					t.Errorf("not static: it has %v", p.Type)
				}
			}
		})
	}
	if _, ok := agents.For("riscv64"); ok {
		t.Error("an agent for an architecture that has none")
	}
}

// Programs for different architectures never pass for one another.
func TestBuildsDiffer(t *testing.T) {
	amd64, _ := agents.For("amd64")
	arm64, _ := agents.For("arm64")
	if amd64.Build == arm64.Build {
		t.Errorf("both are %s", amd64.Build)
	}
}

// What the agent is made of is the standard library and three packages of ours.
func TestImports(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "../agent")
	cmd.Env = append(cmd.Environ(), "GOOS=linux", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	const ours = "github.com/toolhost/toolhost/pkg/container/"
	got := strings.Fields(string(out))
	want := []string{ours + "capture", ours + "protocol", ours + "agent"}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%q, want %q", got, want)
	}
}

func BenchmarkBytes(b *testing.B) {
	a, _ := agents.For("amd64")
	for b.Loop() {
		if _, err := a.Bytes(); err != nil {
			b.Fatal(err)
		}
	}
}
