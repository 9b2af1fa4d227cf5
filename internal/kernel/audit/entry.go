package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"time"

	"github.com/bursarhq/bursar/internal/base/clock"
)

// Entry is one row of the audit log.
type Entry struct {
	Sequence     int64
	CreatedAt    time.Time
	UserID       string
	APIKeyID     string
	RequestID    string
	Action       string
	ResourceType string
	ResourceID   string
	Before       string // JSON, empty when the thing was not there
	After        string // JSON, empty when it is gone
	PreviousHash string
	Hash         string
}

// chained computes the hash of an entry over all it says, its organization and the hash before it, so that no row can be altered,
// dropped, moved or taken from another organization unseen. Every part is preceded by its length: no two entries share an encoding.
func (e Entry) chained(organizationID string) string {
	h := sha256.New()
	put(h, "bursar audit 1")
	put(h, e.PreviousHash)
	put(h, organizationID)
	_ = binary.Write(h, binary.BigEndian, e.Sequence)
	for _, part := range []string{clock.Format(e.CreatedAt), e.UserID, e.APIKeyID, e.RequestID, e.Action, e.ResourceType, e.ResourceID,
		e.Before, e.After} {
		put(h, part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func put(h hash.Hash, part string) {
	_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
	h.Write([]byte(part))
}

// Break says where a chain does not hold.
type Break struct {
	Sequence int64
	Reason   string
}

// follow checks that next comes right after previous; the zero Entry comes before the first.
func follow(organizationID string, previous, next Entry) *Break {
	switch {
	case next.Sequence != previous.Sequence+1:
		return &Break{previous.Sequence + 1, "an entry is missing"}
	case next.PreviousHash != previous.Hash:
		return &Break{next.Sequence, "the entry does not follow the one before it"}
	case next.Hash != next.chained(organizationID):
		return &Break{next.Sequence, "the entry was altered after it was written"}
	}
	return nil
}
