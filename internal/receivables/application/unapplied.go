package application

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/customer"
	"github.com/bursarhq/bursar/internal/rules/book"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rest is what was unapplied of a deposit on some day.
type Rest struct {
	DepositID     string
	DepositNumber string
	DepositAt     time.Time
	DepositMemo   string
	PayerName     string
	ApplicationID string // the one that booked the deposit
	LegalEntityID string
	CustomerID    string // empty if it is not known
	CustomerName  string
	Currency      string
	Amount        money.Decimal
}

// RestsFilter narrows rests by every field that is not empty.
type RestsFilter struct {
	LegalEntityIDs []string
	CustomerIDs    []string
	DepositID      string
	Currency       string
}

// restKey identifies what is unapplied of a deposit.
type restKey struct{ depositID, currency string }

// Rests returns what was unapplied of deposits before an instant, in the order of their dates. It takes what is unapplied now and undoes
// the entries since, so that its cost depends on those and not on the age of the books. What an application that waits for its review
// will use is still unapplied. It runs in the caller's transaction.
func Rests(ctx context.Context, tx *db.Tx, f RestsFilter, before time.Time) ([]Rest, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	amounts, err := unappliedNow(ctx, tx)
	if err != nil {
		return nil, err
	}
	since, err := movedSince(ctx, tx, b, before)
	if err != nil {
		return nil, err
	}
	for k, amount := range since {
		amounts[k] = amounts[k].Sub(amount)
	}
	maps.DeleteFunc(amounts, func(k restKey, amount money.Decimal) bool {
		return amount.IsZero() || f.Currency != "" && f.Currency != k.currency || f.DepositID != "" && f.DepositID != k.depositID
	})
	out, err := restsOf(ctx, tx, amounts)
	if err != nil {
		return nil, err
	}
	out = slices.DeleteFunc(out, func(r Rest) bool {
		return f.LegalEntityIDs != nil && !slices.Contains(f.LegalEntityIDs, r.LegalEntityID) ||
			f.CustomerIDs != nil && !slices.Contains(f.CustomerIDs, r.CustomerID)
	})
	slices.SortFunc(out, func(a, b Rest) int {
		return cmp.Or(a.DepositAt.Compare(b.DepositAt), strings.Compare(a.DepositID, b.DepositID), strings.Compare(a.Currency, b.Currency))
	})
	return out, nil
}

// unappliedNow returns what the books have as unapplied now: what is available, and what waits for a review.
func unappliedNow(ctx context.Context, tx *db.Tx) (map[restKey]money.Decimal, error) {
	rows, err := selectAvailable(ctx, tx)
	if err != nil {
		return nil, err
	}
	out := map[restKey]money.Decimal{}
	for _, r := range rows {
		k := restKey{r.DepositID, r.Currency}
		out[k] = out[k].Add(r.Amount)
	}
	return out, nil
}

// movedSince returns what the entries of applications from an instant on have credited to unapplied cash, less what they have debited.
func movedSince(ctx context.Context, tx *db.Tx, b *snapshot.Books, from time.Time) (map[restKey]money.Decimal, error) {
	out := map[restKey]money.Decimal{}
	moved, err := selectUnappliedSince(ctx, tx, b.Roles()[account.RoleUnappliedCash], from)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(moved))
	for n, m := range moved {
		ids[n] = m.DepositID
	}
	returned, err := selectPaymentsBack(ctx, tx, "r", ids)
	if err != nil {
		return nil, err
	}
	of := make(map[string]string, len(returned)) // by a payment that went back: the deposit
	for _, r := range returned {
		of[r.PaymentID] = r.DepositID
	}
	for _, m := range moved {
		k := restKey{cmp.Or(of[m.DepositID], m.DepositID), b.Entities[m.LegalEntityID].BaseCurrency}
		if m.Unit != nil {
			k.currency = *m.Unit
		}
		if m.Side == string(book.Debit) {
			m.Quantity = m.Quantity.Neg()
		}
		out[k] = out[k].Add(m.Quantity)
	}
	return out, nil
}

// restsOf describes the deposits of which something was unapplied.
func restsOf(ctx context.Context, tx *db.Tx, amounts map[restKey]money.Decimal) ([]Rest, error) {
	var ids []string
	for k := range amounts {
		ids = append(ids, k.depositID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	applied, err := selectAllOfDeposits(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	deposits, err := depositsOf(ctx, tx, applied)
	if err != nil {
		return nil, err
	}
	byDeposit := map[string][]Application{}
	for _, a := range applied {
		byDeposit[a.DepositID] = append(byDeposit[a.DepositID], a)
	}
	payers := &payers{tx: tx}
	var out []Rest
	for k, amount := range amounts {
		made := bookingOf(byDeposit[k.depositID])
		t := deposits[k.depositID]
		r := Rest{DepositID: k.depositID, DepositNumber: t.SequenceNumber(), DepositAt: made.DepositAt, DepositMemo: made.DepositMemo,
			PayerName: payerNameOf(t), ApplicationID: made.ID, LegalEntityID: made.LegalEntityID, Currency: k.currency, Amount: amount}
		if r.CustomerID, r.CustomerName, err = payers.customerOf(ctx, made, byDeposit[k.depositID]); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// bookingOf returns the application that books a deposit, or else the last one that did.
func bookingOf(all []Application) (out Application) {
	for _, a := range all {
		if a.SourceID == "" && (out.ID == "" || out.Status == Voided) {
			out = a
		}
	}
	return out
}

// payerNameOf returns the name of who paid a deposit, as the bank states it.
func payerNameOf(t transaction.Transaction) string {
	if t.Bank != nil && t.Bank.CounterpartyName != "" {
		return t.Bank.CounterpartyName
	}
	return t.Vendor
}

// payers finds the customers who paid deposits. It reads all customers once, if it has to.
type payers struct {
	tx    *db.Tx
	known map[string]string // by name or address: the id of the only customer with it; empty if there are several
	names map[string]string
}

// customerOf returns the customer of a deposit: the one whose invoices it pays, or else the only one with the name or the address of the
// payer.
func (p *payers) customerOf(ctx context.Context, made Application, all []Application) (customerID, name string, err error) {
	several := false
	for _, a := range all {
		for _, l := range a.Allocations {
			if a.Status == Voided {
				continue
			}
			several = several || customerID != "" && customerID != l.CustomerID
			customerID, name = l.CustomerID, l.CustomerName
		}
	}
	if several {
		return "", "", nil
	}
	if customerID != "" || made.payerName == "" && made.payerAddress == "" {
		return customerID, name, nil
	}
	if p.known == nil {
		if err := p.read(ctx); err != nil {
			return "", "", err
		}
	}
	for _, text := range []string{made.payerName, made.payerAddress} {
		if id := p.known[text]; text != "" && id != "" {
			return id, p.names[id], nil
		}
	}
	return "", "", nil
}

func (p *payers) read(ctx context.Context) error {
	customers, err := customer.Matching(ctx, p.tx)
	p.known, p.names = map[string]string{}, map[string]string{}
	for _, c := range customers {
		p.names[c.ID] = c.Name
		for _, text := range slices.Concat([]string{c.Name}, c.Aliases, c.Addresses) {
			key := normalized(text)
			if other, there := p.known[key]; there && other != c.ID {
				p.known[key] = ""
				continue
			}
			p.known[key] = c.ID
		}
	}
	return err
}

// RestMovement is what a posted entry changed about the unapplied rest of a deposit.
type RestMovement struct {
	EntryID string
	Number  int64
	Amount  money.Decimal
}

// RestMovements returns what entries before an instant changed about the unapplied rest of a deposit, in the order of their dates. It runs
// in the caller's transaction.
func RestMovements(ctx context.Context, tx *db.Tx, r Rest, before time.Time) ([]RestMovement, error) {
	b, err := snapshot.Read(ctx, tx)
	if err != nil {
		return nil, err
	}
	returned, err := selectPaymentsBack(ctx, tx, "s", []string{r.DepositID})
	if err != nil {
		return nil, err
	}
	payments := []string{r.DepositID}
	for _, p := range returned {
		payments = append(payments, p.PaymentID)
	}
	ids, err := selectEntriesOfDeposit(ctx, tx, payments)
	if err != nil {
		return nil, err
	}
	if returned, err = selectPaymentsBack(ctx, tx, "r", payments); err != nil {
		return nil, err
	}
	found, err := journal.FindSomeUnchecked(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	entries := slices.SortedFunc(maps.Values(found), func(a, b journal.Entry) int {
		return cmp.Or(a.AccountingDate.Compare(b.AccountingDate), cmp.Compare(a.Number, b.Number))
	})
	var out []RestMovement
	for _, e := range entries {
		amount := creditOn(e, b.Roles()[account.RoleUnappliedCash], r.Currency)
		if of := depositOf(e, returned); of != "" && of != r.DepositID {
			continue
		}
		if e.Status == journal.Posted && e.AccountingDate.Before(before) && !amount.IsZero() {
			out = append(out, RestMovement{e.ID, e.Number, amount})
		}
	}
	return out, nil
}

// depositOf returns the deposit that an entry of a payment that went back belongs to, empty if it is not that of one. The payment may have
// been booked for several deposits, one after the other. What replaced its entry when lots were corrected belongs to the last one.
func depositOf(e journal.Entry, returned []paymentBackRow) (depositID string) {
	for _, r := range returned {
		if id := db.OrEmpty(r.EntryID); id != "" && (id == e.ID || id == e.PreviousID) {
			return r.DepositID
		}
		if r.PaymentID == e.TransactionID {
			depositID = r.DepositID
		}
	}
	return depositID
}

// PendingUntil returns the applications that wait for their review, of deposits before an instant. It runs in the caller's transaction.
func PendingUntil(ctx context.Context, tx *db.Tx, before time.Time) ([]Application, error) {
	return selectPending(ctx, tx, before)
}
