package treasury

import (
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/edge/api/wire"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
)

// RunTimes says who requested a run over transactions, and when it started and ended.
type RunTimes struct {
	CreatedBy  *string `json:"created_by" doc:"User who created it; null if the API key belongs to no user."`
	CreatedAt  string  `json:"created_at" format:"date-time" doc:"When it was requested."`
	StartedAt  *string `json:"started_at" format:"date-time" doc:"When processing started; null if it has not."`
	FinishedAt *string `json:"finished_at" format:"date-time" doc:"When it completed, failed or was cancelled; null before that."`
}

// RunTimesOf returns the view of who requested a run, and when it started and ended.
func RunTimesOf(r batchrun.Run) RunTimes {
	return RunTimes{
		CreatedBy:  db.OrNull(r.UserID),
		CreatedAt:  wire.Timestamp(r.CreatedAt),
		StartedAt:  wire.TimestampOrNull(r.StartedAt),
		FinishedAt: wire.TimestampOrNull(r.FinishedAt),
	}
}
