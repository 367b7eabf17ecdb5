package seal

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// KeySize is the length of a key, in bytes.
const KeySize = 32

// A Ring holds the keys of a server: the first one seals, all of them open. It is safe for
// concurrent use.
type Ring struct{ keys []key }

type key struct {
	id   string
	aead cipher.AEAD
}

// NewRing returns a ring of keys, the one that seals first. There must be one at least, and none
// twice.
func NewRing(keys ...[KeySize]byte) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key: put one on a line, such as the output of openssl rand -hex 32")
	}
	r := &Ring{}
	for i, raw := range keys {
		k, err := newKey(raw)
		if err != nil {
			return nil, err
		}
		if r.find(k.id) != nil {
			return nil, fmt.Errorf("key %d is there twice: leave it out", i+1)
		}
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// RandomRing returns a ring with a new key, which no other process has.
func RandomRing() *Ring {
	var raw [KeySize]byte
	rand.Read(raw[:]) // it never fails: it ends the program instead
	r, err := NewRing(raw)
	if err != nil {
		panic(err) // one key of the right length
	}
	return r
}

// ReadKeys reads one key a line, the one that seals first: 32 bytes in hexadecimal or base64. Blank
// lines and lines that begin with # are nothing. Errors do not repeat what was read.
func ReadKeys(r io.Reader) (*Ring, error) {
	var keys [][KeySize]byte
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff")) // some editors begin a file with it
		if text == "" || text[0] == '#' {
			continue
		}
		raw, ok := decodeKey(text)
		if !ok {
			return nil, fmt.Errorf("line %d: want %d bytes in hexadecimal or base64, such as the output of openssl rand -hex 32", n, KeySize)
		}
		if slices.Contains(keys, raw) {
			return nil, fmt.Errorf("line %d repeats a key: leave it out", n)
		}
		keys = append(keys, raw)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return NewRing(keys...)
}

// decodeKey reads a key in hexadecimal or in base64 of either alphabet, padded or not.
func decodeKey(text string) (out [KeySize]byte, ok bool) {
	unpadded := strings.TrimRight(text, "=")
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString,
		base64.RawStdEncoding.DecodeString,
		base64.RawURLEncoding.DecodeString,
	} {
		if raw, err := decode(unpadded); err == nil && len(raw) == KeySize {
			return [KeySize]byte(raw), true
		}
	}
	return out, false
}

func newKey(raw [KeySize]byte) (key, error) {
	block, err := aes.NewCipher(raw[:])
	if err != nil {
		return key{}, fmt.Errorf("key: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return key{}, fmt.Errorf("key: %w", err)
	}
	id := sha256.Sum256(append([]byte("toolhost key id:"), raw[:]...))
	return key{hex.EncodeToString(id[:6]), aead}, nil
}

// find returns the key with an id, or nil.
func (r *Ring) find(id string) *key {
	for i := range r.keys {
		if r.keys[i].id == id {
			return &r.keys[i]
		}
	}
	return nil
}
