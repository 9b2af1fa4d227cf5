package period

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/id"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/entity"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/kernel/actor"
	"github.com/bursarhq/bursar/internal/kernel/audit"
	"github.com/bursarhq/bursar/internal/kernel/orgstate"
)

// Position is the opening balance, movements and closing balance of an account in a period, in the legal entity's currency. Balances
// are debits less credits.
type Position struct {
	LedgerAccountID string
	Opening         money.Decimal
	Debits          money.Decimal
	Credits         money.Decimal
	Closing         money.Decimal
}

func (p Position) equal(o Position) bool {
	return p.LedgerAccountID == o.LedgerAccountID && p.Opening.Equal(o.Opening) && p.Debits.Equal(o.Debits) &&
		p.Credits.Equal(o.Credits) && p.Closing.Equal(o.Closing)
}

// differingAccounts returns the ids of the ledger accounts whose movements differ between a and b, sorted.
func differingAccounts(a, b map[string]movement) (ids []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, id := range slices.Sorted(maps.Keys(all)) {
		if !a[id].debits.Equal(b[id].debits) || !a[id].credits.Equal(b[id].credits) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Close closes a period for one legal entity or, if none is named, for all that the actor sees and for which it is open.
// It stores the balances, a digest of the entries, the exchange rates by which reports translate the period, and the prices by which they
// value its holdings.
func (s *Service) Close(ctx context.Context, periodID, legalEntityID string) (State, error) {
	return s.close(ctx, periodID, legalEntityID, "", nil)
}

// CloseWithOverride closes a period as Close does, even if overridable readiness checks fail. The reason is stored with the closing.
func (s *Service) CloseWithOverride(ctx context.Context, periodID, legalEntityID, reason string) (State, error) {
	reason, invalid := validateReason("override_reason", reason)
	return s.close(ctx, periodID, legalEntityID, reason, invalid)
}

// actionClosed is the action of the audit record of a close, which serves as an anchor.
const actionClosed = "accounting_period.closed"

// Anchors returns the anchors in the audit log that closes have set, in their order.
func (s *Service) Anchors(ctx context.Context, organizationID string) (out []audit.Anchor, err error) {
	err = s.db.Read(ctx, organizationID, func(ctx context.Context, tx *db.Tx) error {
		all, err := audit.AnchorsAt(ctx, tx, actionClosed)
		if err != nil {
			return err
		}
		periods, err := selectAll(ctx, tx)
		if err != nil {
			return err
		}
		keys := make(map[string]string, len(periods))
		for _, p := range periods {
			keys[p.ID] = p.Key
		}
		for _, a := range all {
			a.Period = keys[a.ResourceID]
			out = append(out, a.Anchor)
		}
		return nil
	})
	return out, err
}

// lastAnchor returns the anchor that the last close of a period has set, or nil if there is none.
func lastAnchor(ctx context.Context, tx *db.Tx, p Period) (*audit.Anchor, error) {
	all, err := audit.AnchorsOf(ctx, tx, actionClosed, p.ID)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	last := all[len(all)-1].Anchor
	last.Period = p.Key
	return &last, nil
}

func (s *Service) close(ctx context.Context, periodID, legalEntityID, override string, invalid error) (State, error) {
	return s.change(ctx, periodID, legalEntityID, invalid, func(ctx context.Context, tx *db.Tx, p Period, o closeStatus) error {
		x, err := s.examine(ctx, tx, p, o)
		if err != nil {
			return err
		}
		if override != "" {
			x.override()
		}
		if err := x.conflict(); err != nil {
			return err
		}
		closings, err := x.freeze(ctx, tx, override)
		if err != nil {
			return err
		}
		if err := x.keepPrices(ctx, tx, s.findPrices, closings); err != nil {
			return err
		}
		if err := x.keepAdjustments(ctx, tx, s.findAdjustments, closings); err != nil {
			return err
		}
		state, err := orgstate.Lock(ctx, tx)
		if err != nil {
			return err
		}
		after := p.facts(closings)
		after["anchored"] = audit.Counts{Entries: state.EntryNumber, Transactions: state.TransactionNumber}
		audit.Record(ctx, tx, audit.Change{Action: actionClosed, ResourceType: "accounting_period", ResourceID: p.ID,
			Before: p.facts(asOpen(closings)), After: after, Parts: parts(closings)})
		if s.afterClose != nil {
			tx.AfterCommit(func() { s.afterClose(tx.Organization()) })
		}
		return nil
	})
}

// change runs a use case on a period while it holds the lock on the organization state, and returns the new state of the period. What
// is invalid in the request is reported together with a legal entity that does not exist.
func (s *Service) change(ctx context.Context, periodID, legalEntityID string, invalid error, do func(context.Context, *db.Tx, Period,
	closeStatus) error) (state State, err error) {
	err = s.db.Write(ctx, actor.From(ctx).OrganizationID, func(ctx context.Context, tx *db.Tx) error {
		orgState, err := orgstate.Touch(ctx, tx)
		if err != nil {
			return err
		}
		p, err := selectOne(ctx, tx, periodID)
		if err != nil {
			return err
		}
		var faults fault.List
		o, err := loadCloseStatus(ctx, tx, legalEntityID)
		if err := faults.MergeMissing(err, "legal_entity_id"); err != nil {
			return err
		}
		if err := faults.Merge(invalid); err != nil {
			return err
		}
		if err := faults.Err(); err != nil {
			return err
		}
		if err := do(ctx, tx, p, o); err != nil {
			return err
		}
		state, err = stateOf(ctx, tx, p)
		state.Guidance.Version = strconv.FormatInt(orgState.BooksVersion, 10) // the new version, which is written before the commit
		return err
	})
	return state, err
}

// reasonsMax is how many reasons the message of a conflict lists; its fields list all.
const reasonsMax = 5

// conflict returns an error that lists every check that failed, or nil if none did.
func (x *examination) conflict() error {
	names := map[string]string{}
	if len(x.entities) > 1 {
		for _, e := range x.entities {
			names[e.ID] = e.Name + ": "
		}
	}
	var fields []fault.Field
	var reasons []string
	for _, v := range failed(x.results) {
		reason := names[v.LegalEntityID] + v.Message
		fields, reasons = append(fields, fault.Field{Name: v.Code, Message: reason}), append(reasons, reason)
	}
	if len(fields) == 0 {
		return nil
	}
	if more := len(reasons) - reasonsMax; more > 0 {
		reasons = append(reasons[:reasonsMax], fmt.Sprintf("and %d more reasons", more))
	}
	return fault.ConflictAt(fields, "the period %s cannot be closed: %s", x.period.Key, strings.Join(reasons, "; "))
}

// freeze stores a closing for each legal entity, with the balances of the period and the rates that it is translated by.
func (x *examination) freeze(ctx context.Context, tx *db.Tx, override string) ([]Closing, error) {
	var closings []Closing
	var frozen []frozenRow
	for _, e := range x.entities {
		d := x.digests[e.ID]
		c := Closing{
			ID: tx.NewID(id.PeriodClosing), PeriodID: x.period.ID, LegalEntityID: e.ID, ClosedAt: tx.Now(), ClosedBy: actor.From(ctx).UserID,
			EntryCount: d.entries, Hash: d.sum(), OverrideReason: override,
		}
		closings = append(closings, c)
		for _, at := range x.positions[e.ID] {
			frozen = append(frozen, frozenRow{ClosingID: c.ID, LedgerAccountID: at.LedgerAccountID, Opening: at.Opening, Debits: at.Debits,
				Credits: at.Credits, Closing: at.Closing})
		}
	}
	if err := insertClosings(ctx, tx, closings); err != nil {
		return nil, err
	}
	if err := insertFrozen(ctx, tx, frozen); err != nil {
		return nil, err
	}
	return closings, x.keepRates(ctx, tx, closings)
}

// reasonMax is the maximum length of the reason to reopen a period, or to close it with an override, in characters.
const reasonMax = 500

// ReopenParams describe a reopening. An empty LegalEntityID means all that the actor sees and for which the period is closed.
type ReopenParams struct {
	LegalEntityID string
	Reason        string
}

// Reopen opens a closed period again. The closing is kept as history.
func (s *Service) Reopen(ctx context.Context, periodID string, p ReopenParams) (State, error) {
	reason, invalid := validateReason("reason", p.Reason)
	return s.change(ctx, periodID, p.LegalEntityID, invalid, func(ctx context.Context, tx *db.Tx, p Period, o closeStatus) error {
		_, closed := o.partition(p)
		if err := o.requireReopenable(p, closed); err != nil {
			return err
		}
		before, err := selectClosings(ctx, tx, []string{p.ID}, entityIDs(closed), true)
		if err != nil {
			return err
		}
		now, after := tx.Now(), slices.Clone(before)
		for i := range after {
			after[i].ReopenedAt, after[i].ReopenedBy, after[i].ReopenReason = &now, actor.From(ctx).UserID, reason
			if err := updateReopened(ctx, tx, after[i]); err != nil {
				return err
			}
		}
		audit.Record(ctx, tx, audit.Change{Action: "accounting_period.reopened", ResourceType: "accounting_period", ResourceID: p.ID,
			Before: p.facts(before), After: p.facts(after), Parts: parts(after)})
		return nil
	})
}

// validateReason returns a reason without surrounding blanks.
func validateReason(field, reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if n := utf8.RuneCountInString(reason); n < 1 || n > reasonMax {
		return "", fault.Invalidf(field, "must have 1 to %d characters, not counting spaces before and after", reasonMax)
	}
	return reason, nil
}

// requireReopenable returns a conflict if the period is not closed, or if a later one is.
func (o closeStatus) requireReopenable(p Period, closed []entity.LegalEntity) error {
	if len(closed) == 0 {
		return fault.Conflictf("the period %s is not closed", p.Key)
	}
	var reasons []string
	for _, e := range closed {
		if through := o.through[e.ID]; through != p.Key {
			reasons = append(reasons, fmt.Sprintf("%s is closed for %s", through, e.Name))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return fault.Conflictf("the period %s cannot be reopened before later ones are: %s", p.Key, joinFirst(reasons, len(reasons)))
}

// parts returns the closings that a change of a period concerns, for the audit log.
func parts(closings []Closing) []audit.Part {
	out := make([]audit.Part, len(closings))
	for i, c := range closings {
		out[i] = audit.Part{Type: "period_closing", ID: c.ID}
	}
	return out
}

// facts describes a period and some of its closings in the audit log and in events.
func (p Period) facts(closings []Closing) map[string]any {
	entities := make([]map[string]any, len(closings))
	for i, c := range closings {
		entities[i] = c.facts()
	}
	return map[string]any{"id": p.ID, "key": p.Key, "start_date_utc": p.Start, "end_date_utc": p.End, "legal_entities": entities}
}

func (c Closing) facts() map[string]any {
	if c.ID == "" {
		return map[string]any{"legal_entity_id": c.LegalEntityID, "status": StatusOpen}
	}
	out := map[string]any{
		"legal_entity_id": c.LegalEntityID, "status": StatusClosed, "period_closing_id": c.ID, "closed_at": c.ClosedAt,
		"closed_by":   db.OrNull(c.ClosedBy),
		"entry_count": c.EntryCount, "hash": c.Hash, "override_reason": db.OrNull(c.OverrideReason),
	}
	if c.ReopenedAt != nil {
		out["status"], out["reopened_at"], out["reopened_by"], out["reason"] = StatusOpen, c.ReopenedAt, db.OrNull(c.ReopenedBy), c.ReopenReason
	}
	return out
}

// asOpen returns placeholders for the legal entities of closings, for the state before they were closed.
func asOpen(closings []Closing) []Closing {
	out := make([]Closing, len(closings))
	for i, c := range closings {
		out[i].LegalEntityID = c.LegalEntityID
	}
	return out
}
