package toolkit

import "io/fs"

// Waiting returns how many questions wait for an answer.
func (s *Server) Waiting() int { return s.pending.waiting() }

// Remembered returns for how many callers something is remembered.
func (s *Server) Remembered() int { return s.memory.Callers() }

// OutOfReachOf is the check of a policy file that must not lie in dirs.
func OutOfReachOf(path string, dirs ...string) func(fs.FileInfo) error {
	return (&outOfReach{path: path, dirs: dirs}).check
}
