package booking

import (
	"context"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/journal"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Part is a part of a payment of a customer: what is credited to an account, in the currency of the payment, or debited if the payment went
// back. A negative amount is on the other side.
type Part struct {
	LedgerAccountID string
	Amount          money.Decimal
	Memo            string
}

// Payment is a payment of a customer.
type Payment struct {
	TransactionID string
	Transaction   *transaction.Transaction // what TransactionID names, if the caller's transaction has read it; nil: it is read
	Type          posting.Type             // posting.Invoice; posting.Refund or posting.Chargeback if it went back
	Parts         []Part                   // which add up to what was paid, or to what went back without the fee
	Memo          string
}

// Paid is what a customer paid with a deposit.
type Paid struct {
	Gross    money.Decimal // what the payer gave up: what arrived, and the fee
	Fee      money.Decimal
	Currency string // for a digital asset, that of its value
}

// BookPayment posts the entry of a payment that is applied to invoices: the source is debited with what arrived, the account of fees with
// the fee, and the parts are credited. If the payment went back, the source is credited with what left, and fees and parts are debited. It
// runs in the caller's transaction.
func (s *Service) BookPayment(ctx context.Context, tx *db.Tx, p Payment) (journal.Entry, error) {
	made, err := s.create(ctx, tx, []Params{p.params()}, func(int) string { return "" })
	if err != nil {
		return journal.Entry{}, err
	}
	return made[0].Entry, nil
}

// BookPayments posts the entries of the payments that can be booked, as BookPayment does, and returns an error for each of the others: also
// for those in a closed period. It runs in the caller's transaction.
func (s *Service) BookPayments(ctx context.Context, tx *db.Tx, all []Payment) ([]BatchResult, error) {
	ps := make([]Params, len(all))
	for n, p := range all {
		ps[n] = p.params()
		ps[n].OpenOnly = true
	}
	return s.CreateEach(ctx, tx, ps)
}

// params returns the entry of a payment.
func (p Payment) params() Params {
	out := Params{TransactionID: p.TransactionID, Type: string(p.Type), AutoPost: true, parts: p.Parts, known: p.Transaction}
	if p.Memo != "" {
		out.Memo = &p.Memo
	}
	return out
}

// PaidBy returns what a customer paid with a deposit, or got back with a payment out: money as it is, and a digital asset by its value. It
// returns an error of kind Conflict if that is not known. It runs in the caller's transaction.
func PaidBy(ctx context.Context, tx *db.Tx, b *snapshot.Books, t transaction.Transaction) (Paid, error) {
	m := builder{lookups: newLookups(tx), books: b}
	leg, _, err := m.leg(ctx, t, "")
	switch {
	case err != nil:
		return Paid{}, err
	case leg.Asset.Lots && leg.Value == nil:
		return Paid{}, fault.Conflictf("the value of %s is not known: store a price of %s first, with POST /v1/prices", t.SequenceNumber(),
			leg.Asset.Symbol)
	}
	p := Paid{leg.Quantity, leg.FeeQuantity, leg.Asset.Symbol}
	if leg.Asset.Lots {
		p = Paid{leg.Value.Gross, leg.Value.Fee, leg.Value.Currency}
	}
	p.Gross, p.Fee = p.Gross.RoundTo(p.Currency), p.Fee.RoundTo(p.Currency)
	return p, nil
}

// appliedTarget returns the target of a payment that is applied to invoices.
func (m builder) appliedTarget(parts []Part) (t posting.Target) {
	for _, p := range parts {
		t.Splits = append(t.Splits, posting.Split{Account: p.LedgerAccountID, Quantity: new(p.Amount), Memo: p.Memo, Applied: true,
			Grows: growsOf(m.books.Accounts[p.LedgerAccountID])})
	}
	return t
}
