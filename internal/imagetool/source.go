package imagetool

import (
	"os"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/internal/imagetool/provider"
	"github.com/toolhost/toolhost/internal/imagetool/provider/openai"
	"github.com/toolhost/toolhost/pkg/toolkit"
)

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
	key, err := os.ReadFile(s.keyFile)
	if err != nil {
		return nil, toolkit.Because(err, "the file of --api-key-file cannot be read: the operator has to mend that. Nothing was sent")
	}
	o := s.options
	if o.APIKey = strings.TrimSpace(string(key)); o.APIKey == "" {
		return nil, toolkit.Errorf("the file of --api-key-file is empty: the operator has to mend that. Nothing was sent")
	}
	p, err := openai.New(o)
	if err != nil {
		return nil, toolkit.Because(err, "the key of --api-key-file cannot be used: %v. Nothing was sent", err)
	}
	s.made = p
	return p, nil
}

// close gives connections back.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c, ok := s.made.(interface{ Close() }); ok {
		c.Close()
	}
}
