package imagetool

import (
	"os"

	"github.com/toolhost/toolhost/pkg/toolkit"
	"github.com/urfave/cli/v2"
)

// doctor looks at the key, the directory and the roots. It asks the provider nothing: an
// answer that says more than that the key is known costs a picture.
func doctor(c *cli.Context) []toolkit.Finding {
	s, err := readSettings(c)
	if err != nil {
		return []toolkit.Finding{{What: "command line", Text: err.Error()}}
	}
	out := []toolkit.Finding{s.providerFinding(), s.outputFinding()}
	for _, r := range s.operator.Roots() {
		f := toolkit.Finding{What: "root " + r.Dir(), OK: true, Text: "can be read"}
		dir, err := r.OpenDir(".")
		if err != nil {
			f = toolkit.Finding{What: f.What, Text: err.Error(), Hint: "give an existing directory that this user may read"}
		} else {
			dir.Close()
		}
		out = append(out, f)
	}
	return out
}

func (s *settings) providerFinding() toolkit.Finding {
	f := toolkit.Finding{What: "provider " + s.rules.Name(), OK: true}
	switch {
	case s.sketches():
		f.Text = "draws offline; no key and no --base-url was given, or --provider sketch"
		return f
	case s.needsKey:
		f.OK, f.Text, f.Hint = false, "there is no API key", "export OPENAI_API_KEY=..., or --api-key-file FILE; --provider sketch needs none"
		return f
	}
	src := &source{settings: s}
	defer src.close()
	if _, err := src.get(); err != nil {
		f.OK = false
		f.Text, _ = toolkit.VisibleText(err)
		f.Hint = "--api-key-file FILE, a file that this user may read, with the key and nothing else"
		return f
	}
	f.Text = s.rules.Model(s.model).Name + " at " + s.host + "; it was not asked, since a picture costs money"
	return f
}

// outputFinding writes a file where pictures go, and removes it.
func (s *settings) outputFinding() toolkit.Finding {
	f := toolkit.Finding{What: "pictures in " + s.dir, OK: true, Text: "can be saved"}
	err := s.tryOutput()
	if err != nil {
		f.OK, f.Text = false, reason(err)+"; pictures are shown, and not saved"
		f.Hint = "--output-dir DIR, a directory that this user may write"
	}
	return f
}

func (s *settings) tryOutput() error {
	if s.dir == "" {
		return errNoDir
	}
	if err := os.MkdirAll(s.dir, dirMode); err != nil {
		return err
	}
	root, err := (&store{dir: s.dir}).root()
	if err != nil {
		return err
	}
	defer root.Close()
	name := ".toolhost-doctor-" + newID()
	if err := writeNew(root, name, nil); err != nil {
		return err
	}
	return root.Remove(name)
}
