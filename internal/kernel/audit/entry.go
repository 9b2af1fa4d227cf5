package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// Entry is one record of the audit log.
type Entry struct {
	Sequence     int64
	CreatedAt    time.Time
	UserID       string
	APIKeyID     string
	RequestID    string
	Action       string
	ResourceType string
	ResourceID   string
	Before       string // JSON, empty for a resource that was created
	After        string // JSON, empty for a resource that was deleted
	PreviousHash string
	Hash         string
}

// chainHash returns the hash of a record. It covers all fields, the organization and the previous hash, so that a record
// that is altered, removed, moved or copied from another organization is noticed. Every part is preceded by its length,
// so that no two records have the same encoding.
func (e Entry) chainHash(organizationID string) string {
	h := sha256.New()
	writePart(h, "bursar audit 1")
	writePart(h, e.PreviousHash)
	writePart(h, organizationID)
	_ = binary.Write(h, binary.BigEndian, e.Sequence)
	for _, part := range []string{clock.Format(e.CreatedAt), e.UserID, e.APIKeyID, e.RequestID, e.Action, e.ResourceType, e.ResourceID,
		e.Before, e.After} {
		writePart(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// writePart hashes a part, preceded by its length.
func writePart(h hash.Hash, part string) {
	_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
	h.Write([]byte(part))
}

// Break is the first place where a chain is broken.
type Break struct {
	Sequence int64
	Reason   string
}

// verifyLink verifies that next directly follows previous and returns nil if it does. For the first record of a log,
// previous is the zero Entry.
func verifyLink(organizationID string, previous, next Entry) *Break {
	switch {
	case next.Sequence != previous.Sequence+1:
		return &Break{previous.Sequence + 1, "an entry is missing"}
	case next.PreviousHash != previous.Hash:
		return &Break{next.Sequence, "the entry does not follow the one before it"}
	case next.Hash != next.chainHash(organizationID):
		return &Break{next.Sequence, "the entry was altered after it was written"}
	}
	return nil
}
