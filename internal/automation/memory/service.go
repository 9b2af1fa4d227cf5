package memory

import "github.com/bursarhq/bursar/internal/db"

// Service holds the use cases.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }
