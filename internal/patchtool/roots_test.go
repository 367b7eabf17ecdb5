package patchtool_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/internal/patchtool"
	"github.com/toolhost/toolhost/pkg/fsroot"
)

// A client's roots narrow the operator's, and stand in for them where there are none.
func TestRootsOfACall(t *testing.T) {
	top := t.TempDir()
	sub := filepath.Join(top, "sub")
	must(t, os.Mkdir(sub, 0o755))
	uri := "file://" + filepath.ToSlash(sub)
	for name, c := range map[string]struct {
		operator *fsroot.Set
		client   []string // nil: declares none
		want     []string
		text     string
	}{
		"the operator's":     {fsroot.NewSet(top), nil, []string{top}, ""},
		"narrowed":           {fsroot.NewSet(top), []string{uri}, []string{sub}, ""},
		"the client's":       {fsroot.NewSet(), []string{uri}, []string{sub}, ""},
		"none":               {fsroot.NewSet(), nil, nil, "with --root DIR"},
		"none of the client": {fsroot.NewSet(), []string{}, nil, "with --root DIR"},
		"elsewhere":          {fsroot.NewSet(sub), []string{"file:///nowhere"}, nil, "outside the allowed roots"},
	} {
		ask := func(context.Context) ([]string, bool, error) { return c.client, c.client != nil, nil }
		set, err := patchtool.Narrow(t.Context(), c.operator, ask)
		if c.text != "" {
			if err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		must(t, err)
		var got []string
		for _, r := range set.Roots() {
			got = append(got, r.Dir())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
