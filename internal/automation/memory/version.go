package memory

import (
	"context"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
)

// Version is one state of a document or a rule, with who left it so and why.
type Version struct {
	ItemID      string
	Number      int64
	Revision    int64
	Content     string // of a rule its JSON; empty where it was deleted
	Frontmatter string // JSON, or empty
	Size        int64  // of the content, in characters
	Deleted     bool
	Rationale   string
	UserID      string
	APIKeyID    string
	CreatedAt   time.Time
}

// versionText is a version as the world sees it.
func versionText(n int64) string { return strconv.FormatInt(n, 10) }

// RationaleMax is how many characters a rationale may have.
const RationaleMax = 2000

// Revision counts the changes to documents and rules there were so far. It is a building block.
func Revision(ctx context.Context, tx *db.Tx) (int64, error) { return selectRevision(ctx, tx) }

// addVersion writes the next version of an item. The head is taken, so that nobody else counts meanwhile.
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
