package application

import (
	"context"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// bookRest posts the entry that moves what an earlier application left over from unapplied cash to receivables, today. The last part is
// that of unapplied cash.
func (s *Service) bookRest(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal, parts []booking.Part, memo string) (
	string, error) {
	var lines []journal.LineParams
	for _, part := range parts {
		lines = append(lines, lineOf(part, part.Amount, p.Currency))
	}
	if base := b.Entities[p.LegalEntityID].BaseCurrency; p.Currency != base {
		v := valuation{tx: tx, books: b, of: p, base: base, held: map[string]*balance.Unit{}}
		valued, err := v.lines(ctx, parts)
		if err != nil {
			return "", err
		}
		if valued != nil { // otherwise they are translated at the rate of today
			lines = valued
		}
	}
	made, err := s.journal.CreateInTx(ctx, tx, []journal.CreateParams{{LegalEntityID: p.LegalEntityID, Memo: memo, Status: journal.Posted,
		AccountingDate: calendar.DateOf(tx.Now(), b.Zone), OriginatedBy: journal.ByCashApplication, Classification: string(posting.Invoice),
		Lines: lines}}, func(int) string { return "" })
	if err != nil {
		return "", err
	}
	return made[0].ID, nil
}

// lineOf returns the line of a part: a negative amount is debited.
func lineOf(part booking.Part, amount money.Decimal, currency string) journal.LineParams {
	l := journal.LineParams{LedgerAccountID: part.LedgerAccountID, Side: book.Credit, Amount: amount.Abs().String(), Currency: currency,
		Memo: part.Memo}
	if amount.Sign() < 0 {
		l.Side = book.Debit
	}
	return l
}

// valuation states parts in a foreign currency in that of the books. What is settled of a balance has its share of the carrying amount, so
// that nothing is left of that when nothing is left of the balance; the difference is a gain or a loss.
type valuation struct {
	tx    *db.Tx
	books *snapshot.Books
	of    *proposal
	base  string
	held  map[string]*balance.Unit // by account: what is left of its balance
}

// lines returns the lines of parts, of which the last is that of unapplied cash. There are none if its balance is less than that, because
// somebody has posted to the account, or if an amount is too small to be stated.
func (v *valuation) lines(ctx context.Context, parts []booking.Part) ([]journal.LineParams, error) {
	places, _ := money.MinorUnits(v.base)
	last := len(parts) - 1
	whole, settled, err := v.settle(ctx, parts[last])
	if err != nil || !settled {
		return nil, err
	}
	var out []journal.LineParams
	sum := whole
	for _, part := range parts[:last] {
		amount, settled, err := v.settle(ctx, part)
		if err != nil {
			return nil, err
		}
		if !settled { // it has no balance in the currency: it is worth what is used of unapplied cash
			amount = part.Amount.Mul(whole).Quo(parts[last].Amount, places)
		}
		if amount.IsZero() {
			return nil, nil
		}
		sum = sum.Add(amount)
		l := lineOf(part, amount, v.base)
		if booking.HasUnits(v.books.Accounts[part.LedgerAccountID]) {
			l.Unit, l.Quantity = v.of.Currency, new(part.Amount.Abs())
		}
		out = append(out, l)
	}
	l := lineOf(parts[last], whole, v.base)
	l.Unit, l.Quantity = v.of.Currency, new(parts[last].Amount.Abs())
	out = append(out, l)
	if sum.IsZero() {
		return out, nil
	}
	role := account.RoleFXGain
	if sum.Sign() > 0 { // more is credited than debited
		role = account.RoleFXLoss
	}
	difference := booking.Part{LedgerAccountID: v.books.Roles()[role], Memo: "Exchange difference"}
	if difference.LedgerAccountID == "" {
		return nil, fault.Conflictf("the chart has no account for exchange differences")
	}
	return append(out, lineOf(difference, sum.Neg(), v.base)), nil
}

// settle returns the share of the carrying amount that a part settles of the balance of its account, with the sign of the part, and whether
// the balance is as much as that.
func (v *valuation) settle(ctx context.Context, part booking.Part) (amount money.Decimal, settled bool, err error) {
	if !booking.HasUnits(v.books.Accounts[part.LedgerAccountID]) {
		return amount, false, nil
	}
	held := v.held[part.LedgerAccountID]
	if held == nil {
		found, err := journal.UnitBalance(ctx, v.tx, v.books, journal.UnitQuery{LegalEntityID: v.of.LegalEntityID,
			LedgerAccountID: part.LedgerAccountID, Unit: v.of.Currency, At: v.tx.Now()})
		if err != nil {
			return amount, false, err
		}
		held = &found
		v.held[part.LedgerAccountID] = held
	}
	places, _ := money.MinorUnits(v.base)
	if amount, settled = held.Share(part.Amount, places); settled { // a debit balance is positive
		held.Quantity, held.Amount = held.Quantity.Sub(part.Amount), held.Amount.Sub(amount)
	}
	return amount, settled, nil
}
