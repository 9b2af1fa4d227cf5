package memory

import "github.com/bursarhq/bursar/internal/db"

// Service implements the use cases of documents and rules.
type Service struct{ db *db.DB }

// NewService returns a Service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }
