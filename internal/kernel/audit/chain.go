package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// LogRecord is one record of the audit log.
type LogRecord struct {
	Sequence     int64
	CreatedAt    time.Time
	UserID       string
	APIKeyID     string
	AppID        string // the authorization of the app that made the change; empty if none did
	FirmID       string // the accounting firm whose person made the change; empty for members of the organization
	RequestID    string
	Action       string
	ResourceType string
	ResourceID   string
	Before       string // JSON, empty for a resource that was created
	After        string // JSON, empty for a resource that was deleted
	State        string // what is stored after the change; empty in records of earlier versions
	PreviousHash string
	Hash         string
}

// chainHash returns the hash of a record. It covers all fields, the organization and the previous hash, so that a record
// that is altered, removed, moved or copied from another organization is noticed. Every part is preceded by its length,
// so that no two records have the same encoding.
func (r LogRecord) chainHash(organizationID string) string {
	h := sha256.New()
	writePart(h, "bursar audit 1")
	writePart(h, r.PreviousHash)
	writePart(h, organizationID)
	_ = binary.Write(h, binary.BigEndian, r.Sequence)
	for _, part := range []string{clock.Format(r.CreatedAt), r.UserID, r.APIKeyID, r.RequestID, r.Action, r.ResourceType, r.ResourceID,
		r.Before, r.After} {
		writePart(h, part)
	}
	if r.State != "" {
		writePart(h, r.State)
	}
	if r.AppID != "" { // earlier versions had no apps
		writePart(h, "app "+r.AppID)
	}
	if r.FirmID != "" { // and no firms
		writePart(h, "firm "+r.FirmID)
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
// previous is the zero LogRecord.
func verifyLink(organizationID string, previous, next LogRecord) *Break {
	switch {
	case next.Sequence != previous.Sequence+1:
		return &Break{previous.Sequence + 1, "a record is missing"}
	case next.PreviousHash != previous.Hash:
		return &Break{next.Sequence, "the record does not follow the one before it"}
	case next.Hash != next.chainHash(organizationID):
		return &Break{next.Sequence, "the record was altered after it was written"}
	}
	return nil
}
