package booking

import (
	"context"
	"slices"

	"github.com/bursarhq/bursar/internal/assets/lots"
	"github.com/bursarhq/bursar/internal/assets/replay"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/balance"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/source"
)

// setUnits sets how a target holds units.
func (m builder) setUnits(ctx context.Context, t *posting.Target, a account.Account, legalEntityID, symbol string) error {
	if t.Grows, t.OwedInKind = growsOf(a), m.isOwedInKind(a); money.IsFiat(symbol) {
		return nil
	}
	held, err := m.heldAs(ctx, legalEntityID, a.ID, symbol)
	t.Parked, t.Valued = held.Lots, held.Valued
	return err
}

// growsOf returns the side on which the unit balances of an account grow, empty if it has none.
func growsOf(a account.Account) book.Side {
	switch {
	case a.Type != account.Asset && a.Type != account.Liability || a.Clearing:
		return ""
	case a.NormalBalance == account.Credit:
		return book.Credit
	}
	return book.Debit
}

// HasUnits reports whether an account has balances of foreign currencies, which are settled at their carrying amounts.
func HasUnits(a account.Account) bool { return growsOf(a) != "" }

// isOwedInKind reports whether an account has receivables or obligations. Other monetary accounts are cash: those in the groups in
// which sources have theirs, and payments of customers that are to be applied to invoices.
func (m builder) isOwedInKind(a account.Account) bool {
	if growsOf(a) == "" || !a.Monetary || a.NormalBalance != a.Type.NormalBalance() || a.Role == account.RoleUnappliedCash {
		return false
	}
	for a.ParentID != "" {
		if a = m.books.Accounts[a.ParentID]; a.Type == account.Asset && source.IsGroup(a.Code) {
			return false
		}
	}
	return true
}

// heldAs returns how an account holds an asset of a legal entity.
func (f *lookups) heldAs(ctx context.Context, legalEntityID, ledgerAccountID, symbol string) (lots.HeldAs, error) {
	return cached(f.held, [3]string{legalEntityID, ledgerAccountID, symbol}, func() (lots.HeldAs, error) {
		return lots.HowHeld(ctx, f.tx, legalEntityID, ledgerAccountID, symbol)
	})
}

// settler settles the unit balances of entries that are about to be booked together, in the order of their transactions.
type settler struct {
	tx      *db.Tx
	books   *snapshot.Books
	changed balance.Units // by the entries before
	preview bool          // nothing is refused for lack of a balance
}

func newSettler(tx *db.Tx, b *snapshot.Books) *settler {
	return &settler{tx: tx, books: b, changed: balance.Units{}}
}

// settle returns an entry that settles unit balances as they stand at the time of its transaction, and stores them in the
// effect. It refuses a repayment of what is not outstanding.
func (s *settler) settle(ctx context.Context, effect *replay.Effect, e posting.Entry) (posting.Entry, error) {
	outstanding := effect.Plan.Settlements(e)
	if err := s.read(ctx, effect, outstanding); err != nil {
		return e, err
	}
	if !s.preview {
		name := func(accountID string) string { return s.books.Accounts[accountID].String() }
		if err := effect.Plan.RequireOutstanding(e, outstanding, name); err != nil {
			return e, err
		}
	}
	effect.Input.Outstanding = outstanding
	e, err := effect.Plan.Settle(e, outstanding)
	for _, l := range e.Lines {
		unit, quantity, amount := l.Unit, l.Quantity, l.Amount
		if unit == "" {
			unit, quantity = l.Currency, amount
		}
		if l.Side == book.Credit {
			quantity, amount = quantity.Neg(), amount.Neg()
		}
		s.changed.AddMovement(balance.UnitKey{Entity: l.Entity, Account: l.Account, Unit: unit}, quantity, amount)
		s.changed.AddMovement(balance.UnitKey{Entity: l.Entity, Account: l.Account}, amount, amount)
	}
	return e, err
}

// read sets the quantities and carrying amounts of unit balances as they stand at the time of a transaction. Of a loan and of a balance
// between two legal entities, what later entries have settled does not count: it would be settled twice, and the balance would change
// sides.
func (s *settler) read(ctx context.Context, effect *replay.Effect, balances []posting.UnitBalance) error {
	read := journal.LeastUnitBalance
	if effect.Input.Type != posting.Intercompany && effect.Input.Type != posting.Repayment {
		read = func(ctx context.Context, tx *db.Tx, b *snapshot.Books, q journal.UnitQuery) (left, sum balance.Unit, err error) {
			sum, err = journal.UnitBalance(ctx, tx, b, q)
			return sum, sum, err
		}
	}
	for i := range balances {
		u := &balances[i]
		left, held, err := read(ctx, s.tx, s.books, journal.UnitQuery{LegalEntityID: u.Entity, LedgerAccountID: u.Account,
			Unit: u.Unit, At: effect.At(), ExceptTransactionID: effect.TransactionID})
		if err != nil {
			return err
		}
		more := s.changed[balance.UnitKey{Entity: u.Entity, Account: u.Account, Unit: u.Unit}]
		u.Quantity, u.Carrying = left.Quantity.Add(more.Quantity), left.Amount.Add(more.Amount)
		u.SettledLater = held.Quantity.Sub(left.Quantity)
	}
	return nil
}

// byTime returns requests in the order of their transactions.
func byTime(all []*request) []*request {
	ordered := slices.DeleteFunc(slices.Clone(all), func(q *request) bool { return q.event == nil })
	slices.SortStableFunc(ordered, func(a, b *request) int { return a.event.first.At.Compare(b.event.first.At) })
	return ordered
}
