package toolkit

// Waiting returns how many questions wait for an answer.
func (s *Server) Waiting() int { return s.pending.waiting() }

// Remembered returns for how many callers something is remembered.
func (s *Server) Remembered() int { return s.memory.Callers() }
