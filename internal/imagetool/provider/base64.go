package provider

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// DecodeBase64 decodes what servers and callers mean by base64: the usual or the URL-safe
// alphabet, padded or not, on one line or several, with the head of a data: URL or without.
func DecodeBase64(text []byte) ([]byte, error) {
	if hasDataScheme(text) {
		_, data, err := DataURL(string(text))
		return data, err
	}
	return decodeBase64(text)
}

func decodeBase64(text []byte) ([]byte, error) {
	data := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	if n, err := base64.StdEncoding.Decode(data, text); err == nil && n > 0 { // the common case, without a copy
		return data[:n], nil
	}
	plain := bytes.TrimRight(bytes.Map(plainBase64, text), "=")
	if len(plain) == 0 {
		return nil, errors.New("decode base64: it is empty")
	}
	data = make([]byte, base64.RawStdEncoding.DecodedLen(len(plain)))
	n, err := base64.RawStdEncoding.Decode(data, plain)
	if err != nil {
		return nil, fmt.Errorf("decode base64: %w", err)
	}
	return data[:n], nil
}

// plainBase64 maps the URL-safe alphabet to the usual one and drops white space.
func plainBase64(r rune) rune {
	switch r {
	case '-':
		return '+'
	case '_':
		return '/'
	case ' ', '\t', '\r', '\n':
		return -1
	}
	return r
}

func hasDataScheme(text []byte) bool {
	return len(text) >= 5 && strings.EqualFold(string(text[:5]), "data:")
}

// DataURL takes a data: URL (RFC 2397) apart. The media type is as written, without
// parameters, and says nothing about the bytes.
func DataURL(address string) (mediaType string, data []byte, err error) {
	if !hasDataScheme([]byte(address[:min(len(address), 5)])) {
		return "", nil, errors.New("read a data: URL: it has another scheme")
	}
	head, body, ok := strings.Cut(address[len("data:"):], ",")
	if !ok {
		return "", nil, errors.New("read a data: URL: it has no comma")
	}
	mediaType, parameters, _ := strings.Cut(head, ";")
	if !strings.HasSuffix(strings.ToLower(";"+parameters), ";base64") {
		text, err := url.PathUnescape(body)
		if err != nil {
			return "", nil, fmt.Errorf("read a data: URL: %w", err)
		}
		return mediaType, []byte(text), nil
	}
	if strings.Contains(body, "%") { // %2B and %0A come from careful encoders
		if plain, err := url.PathUnescape(body); err == nil {
			body = plain
		}
	}
	data, err = decodeBase64([]byte(body))
	return mediaType, data, err
}
