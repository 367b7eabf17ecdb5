package toolkit

// Waiting returns how many questions wait for an answer.
func (s *Server) Waiting() int { return s.pending.waiting() }
