package approval

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"slices"
)

// Digest returns a hash of all that a says, byte for byte: who approved one action has approved
// no other. Args count as compact JSON.
func (a Action) Digest() [sha256.Size]byte {
	d := newDigester()
	d.texts(a.Tool, string(a.Effect), a.Summary, a.Unshown)
	d.number(a.Count)
	d.json(a.Args)
	d.paths(a.Paths)
	d.shell(a.Shell)
	return d.sum()
}

// The parts of an action, as [Action.Parts] names them.
const (
	PartArguments = "arguments"
	PartFiles     = "files"
	PartCommands  = "commands"
	PartSummary   = "summary" // such as the diff of a change
)

// Parts returns a short hash of each part of a, by its name: where digests differ, these
// tell a person what did. They are no proof of anything.
func (a Action) Parts() map[string]string {
	out := map[string]string{}
	for name, write := range map[string]func(*digester){
		PartArguments: func(d *digester) { d.json(a.Args) },
		PartFiles:     func(d *digester) { d.paths(a.Paths) },
		PartCommands:  func(d *digester) { d.shell(a.Shell) },
		PartSummary:   func(d *digester) { d.texts(a.Summary) },
	} {
		d := newDigester()
		write(d)
		sum := d.sum()
		out[name] = hex.EncodeToString(sum[:4])
	}
	return out
}

// A digester hashes values with their lengths before them, so that none can be taken for
// part of its neighbour. Texts count by their bytes, also where these are not UTF-8, as in
// JSON they could not.
type digester struct{ h hash.Hash }

func newDigester() *digester { return &digester{sha256.New()} }

func (d *digester) sum() (out [sha256.Size]byte) {
	d.h.Sum(out[:0])
	return out
}

func (d *digester) number(n int) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	d.h.Write(b[:])
}

func (d *digester) texts(all ...string) {
	for _, s := range all {
		d.number(len(s))
		d.h.Write([]byte(s))
	}
}

func (d *digester) list(all []string) {
	d.number(len(all))
	d.texts(all...)
}

func (d *digester) json(raw json.RawMessage) {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil { // no JSON: as it is
		b.Reset()
		b.Write(raw)
	}
	d.texts(b.String())
}

func (d *digester) paths(all []Path) {
	d.number(len(all))
	for _, p := range all {
		d.texts(string(p.Access), p.Root, p.Rel, p.SHA256)
	}
}

func (d *digester) shell(s *Shell) {
	if s == nil {
		d.number(0)
		return
	}
	d.number(1)
	d.list(s.Commands)
	d.texts(s.Dialect, s.Dir, s.Image, s.ImageID, s.User, s.Profile, s.Network)
	d.list(s.Mounts)
	d.number(len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		d.texts(name, s.Env[name])
	}
	if s.Stdin == nil {
		d.number(0)
		return
	}
	d.number(1)
	d.texts(*s.Stdin)
}
