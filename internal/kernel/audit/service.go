package audit

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service reads the log.
type Service struct{ db *db.DB }

// NewService makes one.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter narrows a list; what is empty does not.
type Filter struct {
	Action, ResourceID, UserID string
	From, To                   time.Time
}

// List gives entries, newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[Entry], error) {
	newest := func(e Entry) []string { return []string{strconv.FormatInt(e.Sequence, 10)} }
	return page.List("audit-log", f, p, newest, func(after []string, limit int) (rows []Entry, err error) {
		below := int64(math.MaxInt64)
		if after != nil {
			if below, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, fault.Invalidf("cursor", "is not a cursor of this service")
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if err := f.known(ctx, tx); err != nil {
				return err
			}
			rows, err = selectPage(ctx, tx, f, below, limit)
			return err
		})
		return rows, err
	})
}

// known refuses to filter by what does not exist. Whatever exists was created, and that is in the log: an id it never
// named is unknown here, whoever's it is.
func (f Filter) known(ctx context.Context, tx *db.Tx) error {
	for _, named := range []struct{ noun, id string }{{"resource", f.ResourceID}, {"user", f.UserID}} {
		if named.id == "" {
			continue
		}
		found, err := mentions(ctx, tx, named.id)
		if err != nil {
			return err
		}
		if !found {
			return fault.Missing(named.noun)
		}
	}
	return nil
}

// verifyMax bounds one call of Verify, so that a log of any length is checked in answers of a bounded time.
const verifyMax = 100_000

// Verification is how far a chain was checked and what was found.
type Verification struct {
	Checked      int64
	LastSequence int64 // the last entry checked
	HeadSequence int64
	HeadHash     string
	Break        *Break
}

// Complete tells that the check reached the head.
func (v Verification) Complete() bool { return v.Break == nil && v.LastSequence == v.HeadSequence }

// Verify recomputes the chain after a sequence number.
func (s *Service) Verify(ctx context.Context, after int64) (v Verification, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		v, err = verifyFrom(ctx, tx, after, verifyMax)
		return err
	})
	return v, err
}

const verifyChunk = 1000

func verifyFrom(ctx context.Context, tx *db.Tx, after, limit int64) (Verification, error) {
	h, err := orgstate.Read(ctx, tx)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{HeadSequence: h.AuditSequence, HeadHash: h.AuditHash, LastSequence: after}
	if after > h.AuditSequence {
		return v, fault.Invalidf("after", "is beyond the last entry, %d", h.AuditSequence)
	}
	previous := Entry{}
	if after > 0 {
		// The entry before the first one checked stands for the part that is taken as checked.
		start, err := selectAfter(ctx, tx, after-1, 1)
		if err != nil {
			return v, err
		}
		if len(start) == 0 || start[0].Sequence != after {
			v.Break = &Break{after, "an entry is missing"}
			return v, nil
		}
		previous = start[0]
	}
	for v.Checked < limit && v.Break == nil {
		chunk, err := selectAfter(ctx, tx, v.LastSequence, int(min(verifyChunk, limit-v.Checked)))
		if err != nil {
			return v, err
		}
		for _, e := range chunk {
			if v.Break = follow(tx.Organization(), previous, e); v.Break != nil {
				return v, nil
			}
			previous = e
			v.Checked++
			v.LastSequence = e.Sequence
		}
		if len(chunk) < verifyChunk {
			break
		}
	}
	if v.Checked < limit {
		v.Break = atHead(h, previous)
	}
	return v, nil
}

// atHead checks that the last entry is the one the head names: a log cut short still chains.
func atHead(h orgstate.State, last Entry) *Break {
	if last.Sequence != h.AuditSequence {
		return &Break{last.Sequence + 1, "an entry is missing"}
	}
	if last.Hash != h.AuditHash {
		return &Break{last.Sequence, "the head of the log names another entry"}
	}
	return nil
}

// Check is the audit's part of verifying an organization's data.
func Check(ctx context.Context, tx *db.Tx) ([]string, error) {
	v, err := verifyFrom(ctx, tx, 0, math.MaxInt64)
	if err != nil || v.Break == nil {
		return nil, err
	}
	return []string{fmt.Sprintf("audit chain broken at entry %d: %s", v.Break.Sequence, v.Break.Reason)}, nil
}
