package patchapply_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/pkg/patchapply"
	"github.com/toolhost/toolhost/pkg/patchapply/storagetest"
)

func TestMemoryIsAStorage(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storagetest.Fixture {
		m := patchapply.NewMemory(nil)
		return storagetest.Fixture{
			Storage: m,
			Write:   func(p, content string, perm fs.FileMode) { m.Write(p, []byte(content), perm) },
			Remove:  m.Remove,
			Link:    m.Link,
			Tree:    func() map[string]string { return memoryTree(m) },
		}
	})
}

func memoryTree(m *patchapply.Memory) map[string]string {
	tree := map[string]string{}
	for _, p := range m.Paths() {
		tree[p] = memoryEntry(m, p)
	}
	return tree
}

func memoryEntry(m *patchapply.Memory, p string) string {
	if target, ok := m.Target(p); ok {
		rel, err := filepath.Rel(filepath.Dir(p), target)
		if err != nil {
			return err.Error()
		}
		return "-> " + filepath.ToSlash(rel)
	}
	content, perm, _ := m.Read(p)
	return fmt.Sprintf("%04o %s", perm, content)
}
