package application

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/rules/book"
)

// verification adds up what applications say.
type verification struct {
	control, unapplied string
	paid               map[string]money.Decimal // by invoice
	used               map[string]money.Decimal // by application: what others use of its rest
	returned           map[string]money.Decimal // by application: what others make due again
	undone             map[string]money.Decimal // by application: what others undo of its write-off
	available          map[string]Application
	rests              map[restKey]money.Decimal // what is unapplied of deposits
	deposits           map[string]string         // by application: its deposit
	returns            []Application             // that are booked
	claims             claims                    // on mirrored invoices
	out                []string
}

// Verify recomputes the invariants of applications and returns a sentence for each broken one: their totals, what others use of their rest,
// their entries and deposits, that what is no longer due on invoices is what they pay, and that mirrored invoices are as their providers
// state them, less what applications pay without their knowledge.
func Verify(ctx context.Context, tx *db.Tx) ([]string, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	v := &verification{control: b.Roles()[account.RoleTradeReceivable], unapplied: b.Roles()[account.RoleUnappliedCash],
		paid: map[string]money.Decimal{}, used: map[string]money.Decimal{}, returned: map[string]money.Decimal{},
		undone: map[string]money.Decimal{}, available: map[string]Application{}, rests: map[restKey]money.Decimal{},
		deposits: map[string]string{}, claims: claims{}}
	err = forEach(ctx, tx, func(chunk []Application) error { return v.chunk(ctx, tx, chunk) })
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(v.available)) {
		if a := v.available[id]; !a.Unapplied.Sub(a.Available).Equal(v.used[id]) {
			v.addf(a, "%s of its %s unapplied is available, but other applications use %s", a.Available, a.Unapplied, v.used[id])
		}
		if a := v.available[id]; !a.Returned.Equal(v.returned[id]) {
			v.addf(a, "%s of what it paid went back, but payments took back %s", a.Returned, v.returned[id])
		}
		undone := money.Decimal{}
		if a := v.available[id]; a.Returned.Equal(a.Applied) {
			undone = a.WrittenOff
		}
		if a := v.available[id]; !undone.Equal(v.undone[id]) || a.Returned.Add(a.WrittenOff).Sub(undone).Cmp(a.Applied) > 0 {
			v.addf(a, "%s of what it settled is due again, and payments that went back undo %s of the %s that it wrote off", a.Returned,
				v.undone[id], a.WrittenOff)
		}
	}
	if err := v.unappliedCash(ctx, tx, b); err != nil {
		return nil, err
	}
	settled, err := invoice.SettledByPayments(ctx, tx)
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(v.paid)) {
		if !v.paid[id].Equal(settled[id]) {
			v.out = append(v.out, fmt.Sprintf("invoice %s: cash applications pay %s, but %s is settled by payments", id, v.paid[id], settled[id]))
		}
		delete(settled, id)
	}
	for _, id := range slices.Sorted(maps.Keys(settled)) {
		v.out = append(v.out, fmt.Sprintf("invoice %s: %s is settled by payments, but no cash application pays it", id, settled[id]))
	}
	unknown := map[string]money.Decimal{}
	for key, c := range v.claims {
		unknown[key[1]] = unknown[key[1]].Add(c.unknown())
	}
	mirrored, err := invoice.VerifyMirrored(ctx, tx, unknown)
	return append(v.out, mirrored...), err
}

func (v *verification) addf(a Application, format string, args ...any) {
	v.out = append(v.out, fmt.Sprintf("cash application %s: ", a.ID)+fmt.Sprintf(format, args...))
}

// chunk verifies some applications.
func (v *verification) chunk(ctx context.Context, tx *db.Tx, chunk []Application) error {
	var entries, invoices []string
	for _, a := range chunk {
		if a.EntryID != "" {
			entries = append(entries, a.EntryID)
		}
		invoices = append(invoices, invoiceIDs(a.Allocations)...)
	}
	booked, err := journal.FindSomeUnchecked(ctx, tx, entries)
	if err != nil {
		return err
	}
	paid, err := invoice.FindSomeUnchecked(ctx, tx, invoices)
	if err != nil {
		return err
	}
	deposits, err := depositsOf(ctx, tx, chunk)
	if err != nil {
		return err
	}
	for _, a := range chunk {
		v.deposits[a.ID] = a.DepositID
		v.totals(a)
		v.entry(a, booked[a.EntryID], paid)
		if t := deposits[a.DepositID]; a.Status.booked() && a.booksTransaction() && t.JournalEntryID != a.EntryID {
			v.addf(a, "it is %s, but its deposit has the entry %q", a.Status, t.JournalEntryID)
		}
		for _, l := range a.Allocations {
			switch i := paid[l.InvoiceID]; {
			case !a.Status.booked():
			case i.Mirrored():
				v.claims.add(a, l)
			default:
				v.paid[l.InvoiceID] = v.paid[l.InvoiceID].Add(l.Amount)
			}
		}
	}
	return nil
}

// unappliedCash verifies that the entries of applications, their corrections and their reversals have booked to unapplied cash what is
// unapplied of each deposit. The report of unapplied cash undoes these entries by their dates, and so is right on every day.
func (v *verification) unappliedCash(ctx context.Context, tx *db.Tx, b *snapshot.Books) error {
	booked, err := movedSince(ctx, tx, b, time.Time{})
	if err != nil {
		return err
	}
	for k, amount := range booked {
		v.rests[k] = v.rests[k].Sub(amount)
	}
	for _, a := range v.returns { // what went back of a deposit is negative
		k := restKey{v.deposits[a.SourceID], a.Currency}
		v.rests[k] = v.rests[k].Add(a.Unapplied)
	}
	keys := slices.SortedFunc(maps.Keys(v.rests), func(a, b restKey) int {
		return cmp.Or(strings.Compare(a.depositID, b.depositID), strings.Compare(a.currency, b.currency))
	})
	for _, k := range keys {
		if !v.rests[k].IsZero() {
			v.out = append(v.out, fmt.Sprintf("unapplied cash: the entries of the deposit %q leave %s %s less on the account than its cash "+
				"applications leave unapplied", k.depositID, v.rests[k], k.currency))
		}
	}
	return nil
}

// totals verifies the amounts of an application.
func (v *verification) totals(a Application) {
	var sum money.Decimal
	for _, l := range a.Allocations {
		if sum = sum.Add(l.Amount); l.Amount.Sign() != a.Total.Sign() && (l.Amount.Sign() <= 0 || a.isReturn()) {
			v.addf(a, "its allocation to %s is %s", l.InvoiceID, l.Amount)
		}
		var credited money.Decimal
		for _, c := range l.Credits {
			credited = credited.Add(c.Amount)
		}
		if len(l.Credits) > 0 && !credited.Equal(l.Amount) {
			v.addf(a, "its allocation to %s is %s, but it credits %s", l.InvoiceID, l.Amount, credited)
		}
	}
	switch {
	case !slices.Contains(statuses, a.Status):
		v.addf(a, "its status is not valid")
	case !sum.Equal(a.Applied):
		v.addf(a, "%s is applied, but its allocations add up to %s", a.Applied, sum)
	case !a.Total.Add(a.WrittenOff).Equal(a.Applied.Add(a.Unapplied)) || a.Unapplied.Sign() < 0 && !a.isReturn() ||
		a.WrittenOff.Sign() < 0 != a.isReturn() && !a.WrittenOff.IsZero():
		v.addf(a, "%s was paid and %s written off, but %s is applied and %s unapplied", a.Total, a.WrittenOff, a.Applied, a.Unapplied)
	case a.isReturn() && (a.Unapplied.Sign() > 0 || !a.Available.IsZero() || !a.Returned.IsZero()):
		v.addf(a, "it went back, but %s is unapplied, %s available and %s returned", a.Unapplied, a.Available, a.Returned)
	case a.isReturn() && a.Status.booked():
		v.returns = append(v.returns, a)
	case a.isReturn():
	case a.Status.booked():
		v.available[a.ID] = a
		k := restKey{a.DepositID, a.Currency}
		if v.rests[k] = v.rests[k].Add(a.Unapplied); a.SourceID != "" {
			v.rests[k] = v.rests[k].Sub(a.Total)
		}
	case !a.Available.IsZero() || !a.Returned.IsZero():
		v.addf(a, "it is %s, but %s of it is available and %s went back", a.Status, a.Available, a.Returned)
	}
	switch {
	case a.SourceID == "" || a.Status == Voided:
	case a.isReturn():
		v.used[a.SourceID], v.returned[a.SourceID] = v.used[a.SourceID].Sub(a.Unapplied), v.returned[a.SourceID].Sub(a.Applied)
		v.undone[a.SourceID] = v.undone[a.SourceID].Sub(a.WrittenOff)
	default: // one that waits for its review uses the rest, too
		v.used[a.SourceID] = v.used[a.SourceID].Add(a.Total)
	}
}

// entry verifies the entry of an application: that it stands as long as the application does, and what it credits to receivables and to
// unapplied cash.
func (v *verification) entry(a Application, e journal.Entry, paid map[string]invoice.Invoice) {
	if a.EntryID == "" {
		if a.Status.booked() {
			v.addf(a, "it is %s, but has no entry", a.Status)
		}
		return
	}
	if e.Status != journal.Posted || e.OriginatedBy != journal.ByCashApplication || (e.NextID == "") != a.Status.booked() {
		v.addf(a, "it is %s, but its entry %s does not agree with that", a.Status, a.EntryID)
		return
	}
	var own money.Decimal
	for _, l := range a.Allocations {
		if i := paid[l.InvoiceID]; !i.Mirrored() {
			own = own.Add(l.Amount)
		}
	}
	rest := a.Unapplied
	if !a.booksTransaction() {
		rest = a.Total.Neg()
	}
	if got := creditOn(e, v.control, a.Currency); !got.Equal(own) {
		v.addf(a, "its entry %s credits receivables with %s, but its invoices are %s", a.EntryID, got, own)
	}
	if got := creditOn(e, v.unapplied, a.Currency); !got.Equal(rest) {
		v.addf(a, "its entry %s credits unapplied cash with %s instead of %s", a.EntryID, got, rest)
	}
}

// creditOn returns what an entry credits to an account less what it debits, in a currency.
func creditOn(e journal.Entry, accountID, currency string) (sum money.Decimal) {
	for _, l := range e.Lines {
		if l.LedgerAccountID != accountID {
			continue
		}
		amount := l.Amount
		if l.Unit == currency && l.Quantity != nil {
			amount = *l.Quantity
		}
		if l.Side == book.Debit {
			amount = amount.Neg()
		}
		sum = sum.Add(amount)
	}
	return sum
}
