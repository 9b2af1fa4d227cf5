package imports

// SetBatch makes batches small, so that a few rows need several batches.
func (s *Service) SetBatch(n int) { s.batch = n }
