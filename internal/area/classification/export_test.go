package classification

// SetBatch makes batches small, so that a few transactions are several.
func (s *Service) SetBatch(n int) { s.batch = n }
