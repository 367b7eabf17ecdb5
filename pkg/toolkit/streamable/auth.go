package streamable

import (
	"bufio"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Anonymous is the principal of callers where no token is asked for.
const Anonymous = "anonymous"

// Local is the principal of who started the program, over stdio; no token can have it.
const Local = "local"

// DefaultHolder is the principal of a token without a name.
const DefaultHolder = "token"

// leastSecret is the shortest token that is accepted, in bytes.
const leastSecret = 16

// A Token is a bearer token (RFC 6750) and the name of who holds it.
type Token struct {
	Name   string // principal, for policies and logs; several tokens may share one
	Secret string
	Scopes []string // what it is for, as policies name it (RFC 6749, section 3.3)
}

// ReadTokens reads one token a line: TOKEN, or NAME TOKEN, or NAME TOKEN SCOPE and further
// scopes. Blank lines and lines that begin with # are nothing. There must be one at least. Errors
// do not repeat what was read.
func ReadTokens(r io.Reader) ([]Token, error) {
	var out []Token
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(strings.TrimPrefix(lines.Text(), "\ufeff")) // some editors begin a file with it
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		t := Token{Name: DefaultHolder, Secret: words[0]}
		if len(words) > 1 {
			t = Token{Name: words[0], Secret: words[1], Scopes: words[2:]}
		}
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		out = append(out, t)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read tokens: %w", err)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no token: put one on a line, such as the output of openssl rand -hex 32")
	}
	return out, nil
}

func (t Token) check() error {
	if t.Name == "" || t.Name == Anonymous || t.Name == Local || strings.ContainsFunc(t.Name, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return fmt.Errorf("the name %q cannot be a token's", t.Name)
	}
	if len(t.Secret) < leastSecret {
		return fmt.Errorf("the token has %d characters, at least %d are wanted: openssl rand -hex 32 makes one", len(t.Secret), leastSecret)
	}
	for i := range len(t.Secret) {
		if c := t.Secret[i]; c <= ' ' || c > '~' {
			return errors.New("the token has characters that a header cannot carry: want visible ASCII")
		}
	}
	return nil
}

// A secret is a token that was hashed, so that comparing takes the same time whatever
// is compared, its length included.
type secret struct {
	name   string
	hash   [sha256.Size]byte
	scopes []string
}

func hashed(tokens []Token) ([]secret, error) {
	var out []secret
	for i, t := range tokens {
		if err := t.check(); err != nil {
			return nil, fmt.Errorf("token %d: %w", i+1, err)
		}
		out = append(out, secret{t.Name, sha256.Sum256([]byte(t.Secret)), t.Scopes})
	}
	return out, nil
}

// holder returns whose token a request shows, or false where it may not call.
func (a access) holder(r *http.Request) (secret, bool) {
	if len(a.tokens) == 0 {
		return secret{name: Anonymous}, true
	}
	given, ok := bearer(r)
	if !ok {
		return secret{}, false
	}
	hash := sha256.Sum256([]byte(given))
	var of secret
	found := 0
	for _, t := range a.tokens { // all of them, whichever fits
		same := subtle.ConstantTimeCompare(hash[:], t.hash[:])
		if same == 1 && found == 0 {
			of = t
		}
		found |= same
	}
	return of, found == 1
}

// bearer returns the token that a request shows. Of two, another reader might see the other.
func bearer(r *http.Request) (string, bool) {
	if len(r.Header.Values("Authorization")) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	return token, ok && strings.EqualFold(scheme, "Bearer") && token != ""
}

// challenge says that a token is wanted (RFC 6750, section 3).
func (a access) challenge(w http.ResponseWriter, r *http.Request) {
	challenge, text := fmt.Sprintf("Bearer realm=%q", a.realm), "a bearer token is wanted: send the header Authorization: Bearer TOKEN"
	if _, given := bearer(r); given {
		challenge += `, error="invalid_token", error_description="the token is not known"`
		text = "the bearer token is not known here"
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, http.StatusUnauthorized, jsonrpc.CodeInvalidRequest, text)
}

// requestKey is where the SDK's token information keeps our [Request].
const requestKey = "toolhost"

type contextKey struct{}

func withHolder(r *http.Request, of secret) *http.Request {
	req := &Request{Principal: of.name, Scopes: of.scopes}
	return r.WithContext(context.WithValue(r.Context(), contextKey{}, req))
}

// identify is the SDK's question whose token it is, which was answered before. The SDK takes
// a session's owner from nowhere else, and hands what is kept here to all handlers.
func identify(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
	req, _ := ctx.Value(contextKey{}).(*Request)
	return &auth.TokenInfo{UserID: req.Principal, Extra: map[string]any{requestKey: req}}, nil
}

// withoutToken keeps the token from the handlers behind, which see all headers.
func withoutToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Authorization")
		next.ServeHTTP(w, r)
	})
}
