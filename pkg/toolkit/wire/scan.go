package wire

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// members calls each for the members of a valid JSON object, in order, and returns a key
// that it has twice, quoted to be shown. The values are parts of object.
func members(object []byte, each func(key string, value []byte)) (twice string) {
	var few [8]string
	seen := few[:0]
	var many map[string]bool
	for i := skipSpace(object, 1); object[i] != '}'; {
		end := skipString(object, i)
		key := unquote(object[i:end])
		i = skipSpace(object, skipSpace(object, end)+1) // behind the colon
		end = skipValue(object, i)
		if twice == "" && (slices.Contains(seen, key) || many[key]) {
			twice = show(key)
		}
		if len(seen) < len(few) {
			seen = append(seen, key)
		} else {
			if many == nil {
				many = map[string]bool{}
			}
			many[key] = true
		}
		each(key, object[i:end:end])
		i = skipSpace(object, end)
		if object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
	return twice
}

func skipSpace(data []byte, i int) int {
	for data[i] == ' ' || data[i] == '\n' || data[i] == '\r' || data[i] == '\t' {
		i++
	}
	return i
}

// skipString returns where the string that begins at i has ended.
func skipString(data []byte, i int) int {
	for i++; ; i++ {
		switch n := bytes.IndexAny(data[i:], `"\`); data[i+n] {
		case '"':
			return i + n + 1
		default:
			i += n + 1
		}
	}
}

// skipValue returns where the value that begins at i has ended.
func skipValue(data []byte, i int) int {
	switch data[i] {
	case '"':
		return skipString(data, i)
	case '{', '[':
		return skipNested(data, i)
	}
	for i < len(data) && bytes.IndexByte([]byte(",]} \n\r\t"), data[i]) < 0 {
		i++
	}
	return i
}

func skipNested(data []byte, i int) int {
	for depth := 0; ; {
		switch data[i] {
		case '"':
			i = skipString(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
}

// unquote returns the text of a valid JSON string.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1])
	}
	var s string
	_ = json.Unmarshal(raw, &s) // it is valid
	return s
}

// show quotes a key for a message, and cuts a long one.
func show(key string) string {
	const limit = 80
	if len(key) > limit {
		cut := limit
		for !utf8.RuneStart(key[cut]) {
			cut--
		}
		key = key[:cut] + "..."
	}
	return strconv.QuoteToGraphic(key)
}

var idPattern = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`)

// IDIn finds the id of a message that cannot be decoded, or of which only head and tail
// are there. nil is none.
func IDIn(data []byte) json.RawMessage {
	var m struct{ ID json.RawMessage }
	if json.Unmarshal(data, &m) == nil && (len(m.ID) > 0 && m.ID[0] != '{' && m.ID[0] != '[') {
		return m.ID
	}
	found := idPattern.FindAllSubmatch(data, -1)
	// Of several, the outermost is not known; a wrong id would answer another request.
	if len(found) != 1 || !json.Valid(found[0][1]) || !utf8.Valid(found[0][1]) {
		return nil
	}
	return found[0][1]
}
