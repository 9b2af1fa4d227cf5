package audit

import (
	"context"
	"math"
	"strconv"
	"time"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/page"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Service reads and verifies the audit log.
type Service struct{ db *db.DB }

// NewService returns a service on a database.
func NewService(d *db.DB) *Service { return &Service{d} }

// Filter selects records. An empty field selects all.
type Filter struct {
	Action, ResourceID, UserID string
	From, To                   time.Time
}

// ofFirms are the types of resources that belong to an organization as a firm.
var ofFirms = []string{"firm_client", "firm_request", "firm_job", "firm_template"}

// Hidden returns the types of resources whose records and events an actor may not read. An organization may be a firm and the client of
// another one, whose people must not learn who its clients are.
func Hidden(who actor.Actor) []string {
	if who.FirmID == "" {
		return nil
	}
	return ofFirms
}

// List returns a page of records, newest first.
func (s *Service) List(ctx context.Context, f Filter, p page.Request) (page.Page[LogRecord], error) {
	newest := func(r LogRecord) []string { return []string{strconv.FormatInt(r.Sequence, 10)} }
	return page.List("audit-log", f, p, newest, func(after []string, limit int) (rows []LogRecord, err error) {
		below := int64(math.MaxInt64)
		if after != nil {
			if below, err = strconv.ParseInt(after[0], 10, 64); err != nil {
				return nil, page.ErrCursor()
			}
		}
		err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
			if err := f.validate(ctx, tx); err != nil {
				return err
			}
			rows, err = selectPage(ctx, tx, f, below, limit)
			return err
		})
		return rows, err
	})
}

// OrganizationIDs returns the organizations that have records, whether or not they still exist.
func (s *Service) OrganizationIDs(ctx context.Context) (ids []string, err error) {
	err = s.db.ReadAcross(ctx, "verification finds organizations that were deleted", func(ctx context.Context, tx *db.Tx) error {
		ids, err = selectOrganizationIDs(ctx, tx)
		return err
	})
	return ids, err
}

// validate returns a NotFound fault when the filter names a resource or user that does not exist. The log records the
// creation of everything, so that an id without a record does not exist in this organization.
func (f Filter) validate(ctx context.Context, tx *db.Tx) error {
	for _, named := range []struct{ noun, id string }{{"resource", f.ResourceID}, {"user", f.UserID}} {
		if named.id == "" {
			continue
		}
		found, err := hasRecord(ctx, tx, named.id)
		if err != nil {
			return err
		}
		if !found {
			return fault.Missing(named.noun)
		}
	}
	return nil
}

// Concerns reports whether the log has a record about a resource. It is a building block for lists that are filtered by a resource of any
// type.
func Concerns(ctx context.Context, tx *db.Tx, resourceID string) (bool, error) {
	return hasRecord(ctx, tx, resourceID)
}

// verifyMax bounds how many records one call of Verify checks, so that each call takes a bounded time.
const verifyMax = 100_000

// Verification is the result of Verify.
type Verification struct {
	Checked      int64
	LastSequence int64 // the last record checked
	HeadSequence int64 // the last record there is
	HeadHash     string
	Break        *Break
}

// Complete reports whether the whole chain up to its end was checked and is intact.
func (v Verification) Complete() bool { return v.Break == nil && v.LastSequence == v.HeadSequence }

// Verify recomputes the chain after a sequence number. It checks up to 100,000 records; call it again after LastSequence
// to go on.
func (s *Service) Verify(ctx context.Context, after int64) (v Verification, err error) {
	err = s.db.Read(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		v, err = verifyFrom(ctx, tx, after, verifyMax, nil)
		return err
	})
	return v, err
}

const verifyChunk = 1000

// verifyFrom recomputes up to limit links of the chain after a sequence number. It calls each, if not nil, with records whose
// links are intact.
func verifyFrom(ctx context.Context, tx *db.Tx, after, limit int64, each func([]LogRecord, Verification) error) (Verification, error) {
	state, err := orgstate.Read(ctx, tx)
	if err != nil {
		return Verification{}, err
	}
	v := Verification{HeadSequence: state.AuditSequence, HeadHash: state.AuditHash, LastSequence: after}
	if after > state.AuditSequence {
		return v, fault.Invalidf("after", "is beyond the last record, %d", state.AuditSequence)
	}
	previous := LogRecord{}
	if after > 0 {
		// The record before the first one to check links it to the part that was checked earlier.
		start, err := selectAfter(ctx, tx, after-1, 1)
		if err != nil {
			return v, err
		}
		if len(start) == 0 || start[0].Sequence != after {
			v.Break = &Break{after, "a record is missing"}
			return v, nil
		}
		previous = start[0]
	}
	for size, ended := int64(verifyChunk), false; v.Checked < limit && !ended; {
		asked := min(size, limit-v.Checked)
		err := db.ReadPart(ctx, func(ctx context.Context) error {
			chunk, err := selectAfter(ctx, tx, v.LastSequence, int(asked))
			if err != nil {
				return err
			}
			ended = int64(len(chunk)) < asked
			for _, r := range chunk {
				if v.Break = verifyLink(tx.Organization(), previous, r); v.Break != nil {
					return nil
				}
				previous = r
				v.Checked++
				v.LastSequence = r.Sequence
			}
			if each == nil {
				return nil
			}
			return each(chunk, v)
		})
		if v.Break != nil {
			return v, nil
		}
		if db.IsMetered(err) && size > 1 { // the records are large
			size = max(1, size/8)
			continue
		}
		if err != nil {
			return v, err
		}
	}
	if v.Checked < limit {
		v.Break = verifyEnd(state, previous)
	}
	return v, nil
}

// verifyEnd verifies that the last record is the one the organization state names: a log that was cut short is still a chain.
func verifyEnd(state orgstate.State, last LogRecord) *Break {
	if last.Sequence != state.AuditSequence {
		return &Break{last.Sequence + 1, "a record is missing"}
	}
	if last.Hash != state.AuditHash {
		return &Break{last.Sequence, "the organization state names another record as the last"}
	}
	return nil
}
