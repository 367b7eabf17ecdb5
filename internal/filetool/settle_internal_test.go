package filetool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/filetool/edit"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// TestSettle: a change that does not fit what was read in the middle of being written is
// made on what is there then; one that does not fit what stands still is refused.
func TestSettle(t *testing.T) {
	for name, then := range map[string]string{"is written": "whole\n", "stands still": "half"} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			file := filepath.Join(root, "a")
			write := func(content string) {
				if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("half")
			set := fsroot.NewSet(root)
			place, err := set.Resolve("a")
			if err != nil {
				t.Fatal(err)
			}
			p := &changePlan{root: place.Root, names: namerFor(set, place, "a"), real: "a", exists: true}
			p.make = func(ctx context.Context, old []byte) ([]byte, int, error) {
				write(then)
				return edit.Apply(ctx, old, []edit.Edit{{Old: "whole", New: "new"}})
			}
			err = p.settle(t.Context())
			var unfit *edit.Error
			switch {
			case then == "half" && !errors.As(err, &unfit):
				t.Errorf("%v", err)
			case then != "half" && (err != nil || string(p.new) != "new\n"):
				t.Errorf("%q, %v", p.new, err)
			}
		})
	}
}
