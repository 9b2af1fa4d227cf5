// Package imports brings files of transactions in. A file is stored first, in pieces, and then read in the
// background, batch by batch: what a batch adds and how far it came commit together, so that a crash anywhere neither
// loses nor repeats a row.
package imports

import (
	"time"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/intake"
)

const noun = "import"

// EventCreated tells that an import waits to be read.
const EventCreated = "import.created"

// Status is how far an import is.
type Status string

// The states. One that is uploading is not listed: its file is not all there.
const (
	Uploading Status = "uploading"
	Pending   Status = "pending"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
)

// Statuses lists every state that can be seen.
var Statuses = []Status{Pending, Running, Completed, Failed}

// Ended tells that nothing will change any more.
func (s Status) Ended() bool { return s == Completed || s == Failed }

const (
	// FileMax is how many bytes a file may have.
	FileMax = 1 << 30
	// nameMax is how many characters of a file's name are kept.
	nameMax = 255
	// FaultsKept is how many faults of an import are kept; all are counted.
	FaultsKept = 10_000
	// FaultsShown is how many of them come with an import.
	FaultsShown = 100
	// chunkSize is how long a piece of a file is, and chunksTogether how many are written in one transaction.
	chunkSize      = 256 << 10
	chunksTogether = 4
)

// Import is one of them.
type Import struct {
	ID         string
	SourceID   string
	FileName   string
	Mapping    intake.Mapping
	Status     Status
	FileSize   int64
	BytesRead  int64
	Counts     Counts
	Error      string // why it failed, and what to do
	UserID     string // of who brought it
	APIKeyID   string
	RequestID  string
	CreatedAt  time.Time
	StartedAt  *time.Time
	FinishedAt *time.Time
}

// Counts is what became of the rows read so far. A row may tell of several transactions, and have several faults.
type Counts struct {
	Rows       int64 // read so far
	Created    int64 // transactions that are new
	Duplicates int64 // transactions that were there already
	Skipped    int64 // rows left out on purpose
	Faulty     int64 // rows left out because something is wrong with them
	Faults     int64 // all that is wrong with them
}

// Percent is how much of the file is dealt with.
func (i Import) Percent() int64 {
	if i.Status == Completed {
		return 100
	}
	return min(99, 100*i.BytesRead/max(i.FileSize, 1)) // the end is told by the status
}

// facts is what the audit and events say of an import.
func (i Import) facts() map[string]any {
	return map[string]any{
		"id": i.ID, "source_id": i.SourceID, "file_name": i.FileName, "file_size": i.FileSize, "format": i.Mapping.Format,
		"preset": db.OrNull(i.Mapping.Preset), "status": i.Status,
		"rows_read": i.Counts.Rows, "created": i.Counts.Created, "duplicates": i.Counts.Duplicates, "skipped": i.Counts.Skipped,
		"faulty": i.Counts.Faulty, "error": db.OrNull(i.Error),
	}
}
