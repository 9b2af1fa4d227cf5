// Package imports imports files of transactions. A file is first stored in chunks and then read in the background,
// batch by batch. The transactions of a batch and the progress of the import are committed together, so that a crash
// neither loses nor repeats a row. Package intake parses the files.
package imports

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const noun = "import"

// EventCreated is the event of a new import that waits to be read.
const EventCreated = "import.created"

// Status is the state of an import.
type Status string

// The states. An uploading import is not listed, because its file is incomplete.
const (
	Uploading Status = "uploading"
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// statuses are the states visible to users.
var statuses = []Status{Pending, Running, Completed, Failed}

// Ended reports whether the import is in a final state.
func (s Status) Ended() bool { return s == Completed || s == Failed }

const (
	// FileMax is the maximum size of a file in bytes.
	FileMax = 1 << 30
	// nameMax is how many characters of a file name are kept.
	nameMax = 255
	// FaultsKept is how many faults of an import are stored; all are counted.
	FaultsKept = 10_000
	// warningsKept is how many warnings of an import are stored; all are counted.
	warningsKept = 20
	// FaultsShown is how many faults are returned with an import.
	FaultsShown = 100
	// chunkSize is the size of a chunk in bytes, and chunksTogether how many chunks are written in one database
	// transaction.
	chunkSize      = 256 << 10
	chunksTogether = 4
)

// Import is a file being imported, or already imported, into a source.
type Import struct {
	ID             string
	SourceID       string
	FileName       string
	Mapping        intake.Mapping
	Status         Status
	FileSize       int64
	BytesRead      int64
	Counts         Counts
	Warnings       []intake.Fault // the first rows whose stated balance does not follow from the rows
	Error          string         // why it failed, and what to do
	UserID         string         // the user who uploaded the file
	APIKeyID       string
	RequestID      string
	LegalEntityIDs []string // those that the key was limited to; empty means all
	CreatedAt      time.Time
	StartedAt      *time.Time
	FinishedAt     *time.Time
}

// Counts summarizes the rows read so far. A row may yield several transactions, and have several faults.
type Counts struct {
	Rows       int64 // rows read
	Created    int64 // new transactions
	Duplicates int64 // transactions that existed already
	Skipped    int64 // rows skipped on purpose
	Faulty     int64 // rows rejected because of faults
	Faults     int64 // faults of all rows
	Warnings   int64 // rows whose stated balance does not follow from the rows
}

// Percent returns how much of the file has been processed.
func (i Import) Percent() int64 {
	if i.Status == Completed {
		return 100
	}
	return min(99, 100*i.BytesRead/max(i.FileSize, 1)) // only a completed import shows 100
}

// facts returns the fields of an import for the audit log and events.
func (i Import) facts() map[string]any {
	return map[string]any{
		"id": i.ID, "source_id": i.SourceID, "file_name": i.FileName, "file_size": i.FileSize, "format": i.Mapping.Format,
		"preset": db.OrNull(i.Mapping.Preset), "status": i.Status,
		"rows_read": i.Counts.Rows, "created": i.Counts.Created, "duplicates": i.Counts.Duplicates, "skipped": i.Counts.Skipped,
		"faulty": i.Counts.Faulty, "warnings": i.Counts.Warnings, "error": db.OrNull(i.Error),
	}
}
