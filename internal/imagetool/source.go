package imagetool

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

// maxKeyFile is how many bytes the file of the key may have: keys have some hundred.
const maxKeyFile = 64 << 10

// A source is the provider as it is used: with its key, which may lie in a file that is read
// with the first call.
type source struct {
	*settings
	mu   sync.Mutex
	made provider.Provider
}

// get returns the provider. What is missing is said each time anew: it may have been mended.
func (s *source) get() (provider.Provider, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.made != nil:
		return s.made, nil
	case s.needsKey:
		return nil, toolkit.Errorf("there is no API key: the operator sets OPENAI_API_KEY in the environment or gives --api-key-file FILE; or --provider sketch draws offline. Nothing was sent")
	case s.keyFile == "":
		s.made = s.rules
		return s.made, nil
	}
	key, err := readKey(s.keyFile)
	if err != nil {
		return nil, err
	}
	o := s.options
	if o.APIKey = key; o.APIKey == "" {
		return nil, toolkit.Errorf("the file of --api-key-file is empty: the operator has to mend that. Nothing was sent")
	}
	p, err := openai.New(o)
	if err != nil {
		return nil, toolkit.Because(err, "the key of --api-key-file cannot be used: %v. Nothing was sent", err)
	}
	s.made = p
	return p, nil
}

// readKey returns what the file holds. It wants a regular file before it opens it: a pipe would
// wait for a writer, and devices need not end.
func readKey(name string) (string, error) {
	const mend = "the operator has to mend that. Nothing was sent"
	info, err := os.Stat(name)
	if err != nil {
		return "", toolkit.Because(err, "the file of --api-key-file cannot be read: %s", mend)
	}
	if !info.Mode().IsRegular() {
		return "", toolkit.Errorf("the file of --api-key-file is no regular file, want one that holds the key: %s", mend)
	}
	f, err := os.Open(name)
	if err != nil {
		return "", toolkit.Because(err, "the file of --api-key-file cannot be read: %s", mend)
	}
	defer f.Close()
	key, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	switch {
	case err != nil:
		return "", toolkit.Because(err, "the file of --api-key-file cannot be read: %s", mend)
	case len(key) > maxKeyFile:
		return "", toolkit.Errorf("the file of --api-key-file has more than %d bytes, want the key alone: %s", maxKeyFile, mend)
	}
	return strings.TrimSpace(string(key)), nil
}

// close gives connections back.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.made.(interface{ Close() }); ok {
		c.Close()
	}
}
