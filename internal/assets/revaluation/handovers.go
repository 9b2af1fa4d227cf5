package revaluation

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/realized"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/measure"
)

// readHandovers reads what the legal entity gave and took over since it was measured last: lots that became another asset, and lots
// that went to another legal entity or came from one at their cost. It reads of which assets disposals were corrected since, too.
func (s *subject) readHandovers(ctx context.Context) error {
	months, err := snapshot.Periods(ctx, s.tx)
	if err != nil {
		return err
	}
	from := s.asOf
	s.measuredLast = map[Kind]time.Time{}
	for _, group := range s.groups() {
		if s.measuredLast[group.kind], err = realized.LastRun(ctx, s.tx, s.ID, string(group.kind), s.period.Key, months); err != nil {
			return err
		}
		from = earlier(from, s.measuredLast[group.kind])
	}
	for key := range s.earlier {
		from = earlier(from, s.history(Kind(key[0]), key[1]).Since())
	}
	until := s.asOf.Add(time.Millisecond)
	if s.corrected, err = lots.CorrectedAssets(ctx, s.tx, s.ID, from, until); err != nil {
		return err
	}
	s.handovers, err = realized.Handovers(ctx, s.tx, from, until, s.adoptions)
	return err
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// adoptedStates returns the lots as they are when the run adopts fair value.
func (s *subject) adoptedStates() (out []realized.Adopted) {
	for unit, rows := range s.opening {
		a := realized.Adopted{Key: realized.Key{LegalEntityID: s.ID, AssetType: unit}, At: s.period.Start}
		for _, r := range rows {
			a.States = append(a.States, measure.State{Lot: r.SubjectID, Quantity: r.Quantity, Adjustment: r.After, TakenOver: r.TakenOver})
		}
		out = append(out, a)
	}
	return out
}

// history returns how an asset was measured by a kind in earlier periods.
func (s *subject) history(kind Kind, unit string) realized.History {
	h := realized.History{LegalEntityID: s.ID, Kind: string(kind), Unit: unit, Currency: s.BaseCurrency, From: s.measuredLast[kind]}
	if _, adopted := s.opening[unit]; adopted {
		h.From = s.period.Start
		return h
	}
	for _, at := range s.earlier[[2]string{string(kind), unit}] {
		if month, there := s.books.Period(at.Key); there && !s.precedes(at) {
			h.Runs = append(h.Runs, realized.Run{ID: at.RunID, End: month.End})
		}
	}
	return h
}

// handedOver returns the assets that a kind measures and of which something was given or taken over.
func (s *subject) handedOver(kind Kind) []string {
	units := map[string]bool{}
	for _, x := range s.handovers {
		for _, unit := range []string{x.From.AssetType, x.To.AssetType} {
			if h := s.history(kind, unit); h.Gave(x) || h.Took(x) {
				units[unit] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(units))
}

// transfer is what handovers did to the adjustment of an asset.
type transfer struct {
	amount  money.Decimal            // that the adjustment account is debited with
	credits map[string]money.Decimal // by account
	surplus money.Decimal            // the part that came from the equity of another legal entity, negative if it went there
}

// transferred returns what handovers did to the adjustment of an asset. What became another asset is cleared with the adjustment of that.
// What went to another legal entity is part of the balance between the two, which is the carrying amount then. Where both revalue, the
// surplus in equity moves along; otherwise the one that gave it has realized it, and none arises.
func (s *subject) transferred(kind Kind, unit string) transfer {
	t, h := transfer{credits: map[string]money.Decimal{}}, s.history(kind, unit)
	add := func(amount money.Decimal, role string) {
		t.amount = t.amount.Add(amount)
		t.credits[role] = t.credits[role].Add(amount)
	}
	for _, x := range s.handovers {
		gave, took := account.RoleTransferClearing, account.RoleTransferClearing
		between := x.From.LegalEntityID != x.To.LegalEntityID
		if between {
			gave, took = account.RoleDueFrom(x.To.LegalEntityID), account.RoleDueTo(x.From.LegalEntityID)
		}
		if h.Gave(x) {
			if add(x.Share.Neg(), gave); between || x.Kind != x.As {
				t.surplus = t.surplus.Sub(x.Surplus)
			}
		}
		if h.Took(x) {
			if add(x.Taken, took); between {
				t.surplus = t.surplus.Add(x.TakenSurplus)
			}
		}
	}
	return t
}

// apply adds a transfer to the effect of the measurement that follows it.
func (t transfer) apply(e measure.Effect) measure.Effect {
	e.Adjustment = e.Adjustment.Add(t.amount)
	e.Surplus, e.Retained = e.Surplus.Add(t.surplus), e.Retained.Sub(t.surplus)
	return e
}

// transferLines returns the lines of a transfer on other accounts than those of the measurement, and notes what they change on accounts
// whose balance is measured itself.
func (s *subject) transferLines(unit string, t transfer) (out []Line) {
	for _, role := range slices.Sorted(maps.Keys(t.credits)) {
		amount, line := t.credits[role], s.accountFor(role)
		if role != account.RoleTransferClearing {
			line.Role = "" // the line has the unit, of which it changes nothing but the value
			s.planned[[2]string{line.AccountID, unit}] = s.planned[[2]string{line.AccountID, unit}].Sub(amount)
		}
		switch line.Amount = amount.Abs(); amount.Sign() {
		case 1:
			line.Side = book.Credit
		case -1:
			line.Side = book.Debit
		default:
			continue
		}
		out = append(out, line)
	}
	return out
}

// plannedOn returns what the run changes on an account by handovers of an asset, compared with what an earlier run of the period booked.
func (s *subject) plannedOn(accountID, unit string) money.Decimal {
	sum := s.planned[[2]string{accountID, unit}]
	for _, group := range s.groups() {
		if s.includes(group.kind) {
			sum = sum.Sub(s.ownOn(group.kind, unit, accountID))
		}
	}
	return sum
}
