package seal_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolhost/toolhost/pkg/approval/seal"
)

var (
	purpose = seal.Purpose{Server: "mcp-shell", Tool: "shell", Principal: "alice"}
	noon    = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	claims  = seal.Claims{
		Expires: noon.Add(time.Minute), Arguments: []byte{1, 2}, Digest: []byte{3, 4},
		Parts: map[string]string{"paths": "ab"}, Rule: "ask-shell", Revision: "r1",
	}
)

// key returns a key that is all one byte.
func key(b byte) (k [seal.KeySize]byte) {
	for i := range k {
		k[i] = b
	}
	return k
}

func ring(t testing.TB, keys ...[seal.KeySize]byte) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustSeal(t testing.TB, r *seal.Ring) string {
	t.Helper()
	state, err := r.Seal(purpose, claims)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func TestOpenReturnsWhatWasSealed(t *testing.T) {
	r := ring(t, key(1))
	a, b := mustSeal(t, r), mustSeal(t, r)
	got, err := r.Open(purpose, a, noon)
	if err != nil {
		t.Fatal(err)
	}
	other, err := r.Open(purpose, b, noon)
	if err != nil {
		t.Fatal(err)
	}
	if got.Nonce == "" || got.Nonce == other.Nonce {
		t.Errorf("nonces %q and %q", got.Nonce, other.Nonce)
	}
	got.Nonce, got.Expires = "", got.Expires.UTC()
	if diff := cmp.Diff(claims, got); diff != "" {
		t.Error(diff)
	}
	if a == b || len(a) > 600 {
		t.Errorf("sealed to %s and %s", a, b)
	}
}

func TestOpenRefuses(t *testing.T) {
	mine := ring(t, key(1))
	state := mustSeal(t, mine)
	fields := strings.Split(state, ".")
	foreign := strings.Split(mustSeal(t, ring(t, key(2))), ".")
	tests := []struct {
		name  string
		p     seal.Purpose
		state string
		now   time.Time
		want  string // of the reason
	}{
		{"nothing", purpose, "", noon, "not of the form"},
		{"a plain text", purpose, `{"approved":true}`, noon, "not of the form"},
		{"another version", purpose, "a2." + fields[1] + "." + fields[2], noon, "not of the form"},
		{"an unknown key", purpose, strings.Join(foreign, "."), noon, "not known here"},
		{"another key's id", purpose, "a1." + fields[1] + "." + foreign[2], noon, "changed"},
		{"another server", seal.Purpose{Server: "mcp-files", Tool: "shell", Principal: "alice"}, state, noon, "another server or tool"},
		{"another tool", seal.Purpose{Server: "mcp-shell", Tool: "shell_job", Principal: "alice"}, state, noon, "another server or tool"},
		{"names that run together", seal.Purpose{Server: "mcp-shells", Tool: "hell", Principal: "alice"}, state, noon, "another server or tool"},
		{"another principal", seal.Purpose{Server: "mcp-shell", Tool: "shell", Principal: "bob"}, state, noon, `sent by "bob"`},
		{"no principal", seal.Purpose{Server: "mcp-shell", Tool: "shell"}, state, noon, `sent by ""`},
		{"at its end", purpose, state, noon.Add(time.Minute), "expired 0s ago"},
		{"later", purpose, state, noon.Add(time.Hour), "expired 59m0s ago"},
		{"with a line end", purpose, state + "\n", noon, "not as it was encoded"},
		{"padded", purpose, state + "=", noon, "data: "},
		{"too long", purpose, state + strings.Repeat("A", 9000), noon, "at most"},
		{"without its data", purpose, "a1." + fields[1] + ".", noon, "changed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := mine.Open(tt.p, tt.state, tt.now)
			var e *seal.Error
			if !errors.As(err, &e) || !strings.Contains(e.Reason, tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			if diff := cmp.Diff(seal.Claims{}, got); diff != "" || e.Visible() != seal.Invalid {
				t.Errorf("told %q and %s", e.Visible(), diff)
			}
		})
	}
}

// Every byte counts: of each, every bit is changed, and every character of base64url is tried.
func TestEveryChangeIsSeen(t *testing.T) {
	r := ring(t, key(1))
	state := mustSeal(t, r)
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	for i := range len(state) {
		var others []byte
		for bit := range 8 {
			others = append(others, state[i]^1<<bit)
		}
		for _, c := range append(others, alphabet...) {
			if c == state[i] {
				continue
			}
			changed := state[:i] + string([]byte{c}) + state[i+1:]
			if _, err := r.Open(purpose, changed, noon); err == nil {
				t.Fatalf("it opens with %q at byte %d", c, i)
			}
		}
		if _, err := r.Open(purpose, state[:i]+state[i+1:], noon); err == nil {
			t.Fatalf("it opens without byte %d", i)
		}
	}
}

// None of a million states that were made up opens: random ones, and ones that differ
// from a real one in a few places.
func TestNoMadeUpStateOpens(t *testing.T) {
	r := ring(t, key(1), key(2))
	state := mustSeal(t, r)
	head := state[:strings.LastIndexByte(state, '.')+1]
	n := 500_000
	if raceEnabled {
		n = 20_000
	}
	var all sync.WaitGroup
	for part := range 2 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(part)))
			for range n {
				made := madeUp(random, state, head)
				if made == state {
					continue
				}
				if _, err := r.Open(purpose, made, noon); err == nil {
					t.Errorf("it opens: %q", made)
				}
			}
		})
	}
	all.Wait()
}

func madeUp(random *rand.Rand, state, head string) string {
	switch random.IntN(3) {
	case 0: // another text behind the id of a key
		b := make([]byte, random.IntN(300))
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		return head + base64.RawURLEncoding.EncodeToString(b)
	case 1: // the real one, with up to four bytes changed
		b := []byte(state)
		for range 1 + random.IntN(4) {
			b[random.IntN(len(b))] = byte(random.Uint32())
		}
		return string(b)
	default: // cut, and put together in another way
		i, j := random.IntN(len(state)), random.IntN(len(state))
		return state[:i] + state[j:]
	}
}

func FuzzOpen(f *testing.F) {
	r := ring(f, key(1))
	state := mustSeal(f, r)
	f.Add("")
	f.Add(state[:len(state)-1])
	f.Add(strings.ToUpper(state))
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := r.Open(purpose, s, noon); err == nil && s != state {
			t.Errorf("it opens: %q", s)
		}
	})
}

func TestRotation(t *testing.T) {
	before, after := ring(t, key(1)), ring(t, key(2), key(1))
	if _, err := after.Open(purpose, mustSeal(t, before), noon); err != nil {
		t.Errorf("an old key that is still there: %v", err)
	}
	if _, err := before.Open(purpose, mustSeal(t, after), noon); err == nil {
		t.Error("the first key of the ring is not the one that seals")
	}
	if _, err := seal.RandomRing().Open(purpose, mustSeal(t, seal.RandomRing()), noon); err == nil {
		t.Error("two random rings have the same key")
	}
}

func TestReadKeys(t *testing.T) {
	one, two := key(0xab), key(0xfb)
	both := ring(t, one, two)
	tests := []struct {
		name, file string
		want       string // of the error
	}{
		{"hexadecimal and base64", hex.EncodeToString(one[:]) + "\n" + base64.StdEncoding.EncodeToString(two[:]) + "\n", ""},
		{"URL alphabet, no padding, comments, CRLF", "\ufeff# keys\r\n\r\n" + strings.ToUpper(hex.EncodeToString(one[:])) + "\r\n " + base64.RawURLEncoding.EncodeToString(two[:]), ""},
		{"none", "# nothing\n", "there is no key"},
		{"too short", hex.EncodeToString(one[:31]), "line 1: want 32 bytes"},
		{"too long", "\n" + hex.EncodeToString(append(one[:], 1)), "line 2: want 32 bytes"},
		{"a password", "correct horse battery staple", "line 1: want 32 bytes"},
		{"twice", hex.EncodeToString(one[:]) + "\n" + base64.StdEncoding.EncodeToString(one[:]), "line 2 repeats a key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := seal.ReadKeys(strings.NewReader(tt.file))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "abab") {
					t.Fatalf("got %v, want %q", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := both.Open(purpose, mustSeal(t, r), noon); err != nil {
				t.Errorf("the first line's key does not seal: %v", err)
			}
			if _, err := r.Open(purpose, mustSeal(t, ring(t, two)), noon); err != nil {
				t.Errorf("the second line's key does not open: %v", err)
			}
		})
	}
}

func TestNonces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &seal.Nonces{Max: 2}
		soon, late := time.Now().Add(time.Second), time.Now().Add(time.Minute)
		use := func(nonce string, expires time.Time) string {
			first, err := store.Use(t.Context(), nonce, expires)
			return fmt.Sprint(first, " ", err)
		}
		got := []string{use("b", late), use("a", soon), use("a", soon), use("c", late)}
		time.Sleep(2 * time.Second)
		got = append(got, use("c", late), use("b", late), use("d", late))
		want := []string{"true <nil>", "true <nil>", "false <nil>", "false " + seal.ErrFull.Error(), "true <nil>", "false <nil>", "false " + seal.ErrFull.Error()}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestNonceIsUsedOnceByMany(t *testing.T) {
	var store seal.Nonces
	var firsts atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			first, err := store.Use(context.Background(), "n", time.Now().Add(time.Minute))
			if err != nil {
				t.Error(err)
			}
			if first {
				firsts.Add(1)
			}
		})
	}
	all.Wait()
	if n := firsts.Load(); n != 1 {
		t.Errorf("%d were the first", n)
	}
}
