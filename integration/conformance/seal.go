package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// A memory is what an asker has to know in its next call.
type memory struct {
	Round int
	Told  []string
}

// A seal signs memories, since clients hold them and could change them.
type seal []byte

func newSeal() seal {
	key := make(seal, sha256.Size)
	rand.Read(key) // it never fails: it ends the program instead
	return key
}

// close returns m as text that only open takes, for the same owner.
func (s seal) close(owner string, m memory) string {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err) // a number and texts
	}
	payload := base64.RawURLEncoding.EncodeToString(data)
	return payload + "." + s.sign(owner, payload)
}

func (s seal) open(owner, sealed string) (m memory, err error) {
	payload, signature, _ := strings.Cut(sealed, ".")
	if !hmac.Equal([]byte(signature), []byte(s.sign(owner, payload))) {
		return m, errors.New("it was not made here, or was changed")
	}
	data, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		return m, err
	}
	return m, json.Unmarshal(data, &m)
}

func (s seal) sign(owner, payload string) string {
	h := hmac.New(sha256.New, s)
	h.Write([]byte(owner + "\x00" + payload))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
