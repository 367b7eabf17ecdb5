package toolkit

import "io/fs"

// Waiting returns how many questions wait for an answer.
func (s *Server) Waiting() (n int) {
	s.pending.mu.Lock()
	defer s.pending.mu.Unlock()
	for _, c := range s.pending.count {
		n += c
	}
	return n
}

// Remembered returns for how many callers something is remembered.
func (s *Server) Remembered() int { return s.memory.Callers() }

// OutOfReachOf is the check of a policy file that must not lie in dirs.
func OutOfReachOf(path string, dirs ...string) func(fs.FileInfo) error {
	return (&outOfReach{path: path, dirs: dirs}).check
}
