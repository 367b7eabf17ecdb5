// Package seal lets a client hold what its server must know again, such as what a person
// was asked, without letting it read, make or change any of it.
//
// A [Ring] seals [Claims] with AES-256-GCM (NIST SP 800-38D) into a text, and opens only what one
// of its keys has sealed, for the same server, tool and principal, before it expires. Servers
// that share their keys open each other's texts. That a text is used once only is the business
// of a [NonceStore].
//
// A sealed text is a1.KID.DATA: the version of this form, the id of the key, and a random nonce
// with the ciphertext behind it, in base64url without padding (RFC 4648, section 5).
package seal

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// version names the form of sealed texts.
const version = "a1"

// maxState is the longest text that is opened, in bytes.
const maxState = 8 << 10

// A Purpose is what a text is sealed for; it opens for nothing else.
type Purpose struct {
	Server    string // name of the program
	Tool      string // canonical name
	Principal string // who was asked, or will be
}

// Claims are what a sealed text says.
type Claims struct {
	Nonce     string            `json:"n"` // made by [Ring.Seal]: of no other text
	Expires   time.Time         `json:"x"` // to the millisecond
	Arguments []byte            `json:"a"` // hash of the arguments, as they were decoded
	Digest    []byte            `json:"d"` // hash of the action that a person was shown
	Parts     map[string]string `json:"f"` // hashes of its parts, by their names
	Rule      string            `json:"r"` // id of the rule that asks
	Revision  string            `json:"v"` // of the policy
}

// A sealed is how claims lie in the ciphertext.
type sealed struct {
	Claims
	Expires   int64  `json:"x"` // Unix time in milliseconds
	Principal string `json:"p"`
}

// Invalid is all that is told to whoever sends a text that does not open: which of its parts is
// wrong would help to forge one.
const Invalid = "the request state is not valid: call again without requestState and inputResponses"

// An Error says why a text does not open.
type Error struct {
	Reason string // for the log only
}

// Error returns the reason.
func (e *Error) Error() string { return "open request state: " + e.Reason }

// Visible returns [Invalid].
func (e *Error) Visible() string { return Invalid }

func invalid(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Seal returns a text for p that says c, under a new nonce.
func (r *Ring) Seal(p Purpose, c Claims) (string, error) {
	k := r.keys[0]
	c.Nonce = rand.Text()
	plain, err := json.Marshal(sealed{Claims: c, Expires: c.Expires.UnixMilli(), Principal: p.Principal})
	if err != nil {
		return "", fmt.Errorf("seal: %w", err)
	}
	data := k.aead.Seal(nil, nil, plain, bound(k.id, p))
	return version + "." + k.id + "." + base64.RawURLEncoding.EncodeToString(data), nil
}

// Open returns what a text says that was sealed for p and has not expired by now. All its
// errors are of type [*Error].
func (r *Ring) Open(p Purpose, state string, now time.Time) (Claims, error) {
	kid, data, err := split(state)
	if err != nil {
		return Claims{}, err
	}
	k := r.find(kid)
	if k == nil {
		return Claims{}, invalid("sealed with key %q, which is not known here", kid)
	}
	plain, err := k.aead.Open(nil, nil, data, bound(kid, p))
	if err != nil {
		return Claims{}, invalid("changed, or sealed for another server or tool")
	}
	var s sealed
	if err := json.Unmarshal(plain, &s); err != nil {
		return Claims{}, invalid("claims: %v", err)
	}
	c := s.Claims
	c.Expires = time.UnixMilli(s.Expires)
	switch {
	case s.Principal != p.Principal:
		return Claims{}, invalid("sealed for principal %q, sent by %q", s.Principal, p.Principal)
	case !now.Before(c.Expires):
		return Claims{}, invalid("expired %s ago", now.Sub(c.Expires).Round(time.Millisecond))
	}
	return c, nil
}

// split takes a text apart. Every text has one spelling: base64 that decodes to the same bytes
// in another way, with line ends in it or bits behind its end, is none.
func split(state string) (kid string, data []byte, err error) {
	if len(state) > maxState {
		return "", nil, invalid("%d bytes long, at most %d are read", len(state), maxState)
	}
	form, rest, _ := strings.Cut(state, ".")
	kid, text, ok := strings.Cut(rest, ".")
	if form != version || !ok {
		return "", nil, invalid("not of the form %s.KID.DATA", version)
	}
	data, err = base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return "", nil, invalid("data: %v", err)
	}
	if base64.RawURLEncoding.EncodeToString(data) != text {
		return "", nil, invalid("data: not as it was encoded")
	}
	return kid, data, nil
}

// bound is what is authenticated with a text and does not stand in it. Lengths keep what
// belongs to one name from being read as part of the next.
func bound(kid string, p Purpose) []byte {
	var out []byte
	for _, s := range []string{version, kid, p.Server, p.Tool} {
		out = fmt.Appendf(out, "%d:%s", len(s), s)
	}
	return out
}
