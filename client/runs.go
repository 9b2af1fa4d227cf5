package client

import "time"

// Run is what all runs over transactions have.
type Run struct {
	ID       string         `json:"id"`
	DryRun   bool           `json:"dry_run"`
	Filter   map[string]any `json:"filter"`
	Status   string         `json:"status"`
	Progress struct {
		Done    int64 `json:"done"`
		Total   int64 `json:"total"`
		Percent int64 `json:"percent"`
	} `json:"progress"`
	Counts     map[string]int64 `json:"counts"` // by outcome
	Error      *string          `json:"error"`
	CreatedBy  *string          `json:"created_by"`
	CreatedAt  time.Time        `json:"created_at"`
	StartedAt  *time.Time       `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"`
}
