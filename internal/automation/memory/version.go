package memory

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Version is one version of a document or a rule, with its author and rationale.
type Version struct {
	ItemID      string
	Number      int64
	Revision    int64
	Content     string // JSON for a rule; empty if deleted
	Frontmatter string // JSON, or empty
	Size        int64  // of the content, in characters
	Deleted     bool
	Rationale   string
	UserID      string
	APIKeyID    string
	CreatedAt   time.Time
}

// versionText formats a version number for the API.
func versionText(n int64) string { return strconv.FormatInt(n, 10) }

// rationaleMax is the maximum length of a rationale in characters.
const rationaleMax = 2000

// Revision returns the number of changes to documents and rules so far. It is a building block.
func Revision(ctx context.Context, tx *db.Tx) (int64, error) { return selectRevision(ctx, tx) }

// addVersion stores the next version of an item. The caller holds the lock on the organization state, so that numbers
// are unique.
func addVersion(ctx context.Context, tx *db.Tx, v Version) (Version, error) {
	last, err := selectRevision(ctx, tx)
	if err != nil {
		return v, err
	}
	who := actor.From(ctx)
	v.Revision, v.UserID, v.APIKeyID, v.CreatedAt = last+1, who.UserID, who.APIKeyID, tx.Now()
	v.Size = int64(utf8.RuneCountInString(v.Content))
	return v, insertVersion(ctx, tx, v)
}
