package imports

// Convert makes of a record what its source tells.
var Convert = convert

// SetBatch makes batches small, so that a few rows are several.
func (s *Service) SetBatch(n int) { s.batch = n }
