package application

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/bursarhq/bursar/internal/assets/booking"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/base/money"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/receivables/invoice"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// Rule is a rule of the organization about payments for some lines of invoices.
type Rule struct {
	ID              string
	Name            string
	Matcher         string // a phrase in the description or the product of a line, as it is written there
	Exact           bool   // the phrase is all of it, in any case and with any spaces
	Review          bool   // a person has to look at it; otherwise the payment is credited to the account
	LedgerAccountID string
}

// Rules returns the rules of the organization. It runs in the caller's transaction.
type Rules func(ctx context.Context, tx *db.Tx) ([]Rule, error)

// matches reports whether a rule is about a line.
func (r Rule) matches(l invoice.Line) bool {
	for _, label := range []string{l.Description, l.Product} {
		if r.Exact && label != "" && normalized(label) == normalized(r.Matcher) || !r.Exact && strings.Contains(label, r.Matcher) {
			return true
		}
	}
	return false
}

// normalized returns a text in lower case and without repeated spaces.
func normalized(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

// precedes orders rules of which several match a line: the longest phrase first, then the oldest rule.
func precedes(a, b Rule) int {
	return cmp.Or(len(b.Matcher)-len(a.Matcher), strings.Compare(a.ID, b.ID))
}

// routeOf returns the rule by which the payment for a line is credited to another account, or nil.
func routeOf(rules []Rule, l invoice.Line) *Rule {
	for n, r := range rules {
		if !r.Review && r.matches(l) {
			return &rules[n]
		}
	}
	return nil
}

// reviewOf says why a person has to look at the payment of some invoices, or returns an empty text.
func reviewOf(rules []Rule, all []Allocation, invoices map[string]invoice.Invoice) string {
	for _, a := range all {
		for _, l := range invoices[a.InvoiceID].Lines {
			for _, r := range rules {
				if r.Review && r.matches(l) {
					return "the rule " + r.Name + " demands a review of the invoice " + invoices[a.InvoiceID].Number
				}
			}
		}
	}
	return ""
}

// accounts are the accounts that an application credits.
type accounts struct {
	control, unapplied, writeOff string
	mirrored                     map[string]string // by invoice: the receivable that the books have of it
}

// accountsOf finds the accounts of an application.
func accountsOf(ctx context.Context, tx *db.Tx, b *snapshot.Books, p *proposal) (out accounts, err error) {
	out.mirrored = map[string]string{}
	if out.unapplied = b.Roles()[account.RoleUnappliedCash]; out.unapplied == "" {
		return out, fault.Conflictf("the chart has no account for unapplied cash")
	}
	for _, l := range p.Allocations {
		i := p.invoices[l.InvoiceID]
		if !i.Mirrored() {
			if out.control, err = invoice.ControlAccount(ctx, tx, b); err != nil {
				return out, err
			}
			continue
		}
		if out.mirrored[i.ID], err = receivableOf(ctx, tx, b, i, p.deposit.Source.LedgerAccountID); err != nil {
			return out, err
		}
	}
	if p.WrittenOff.Sign() > 0 {
		out.writeOff, err = invoice.WriteOffAccount(ctx, tx, b)
	}
	return out, err
}

// receivableOf returns the account on which the books have a mirrored invoice: that of the source of its transaction, else accounts
// receivable.
func receivableOf(ctx context.Context, tx *db.Tx, b *snapshot.Books, i invoice.Invoice, deposited string) (string, error) {
	if i.TransactionID != "" {
		found, err := transaction.FindSomeUnchecked(ctx, tx, []string{i.TransactionID})
		if err != nil {
			return "", err
		}
		if len(found) > 0 && found[0].Source.LedgerAccountID != "" && found[0].Source.LedgerAccountID != deposited {
			return found[0].Source.LedgerAccountID, nil
		}
	}
	if id := b.Roles()[account.RoleReceivable]; id != "" {
		return id, nil
	}
	return "", fault.Conflictf("the chart has no account for accounts receivable")
}

// requireAccounts returns an error if a rule routes to an account that payments cannot be credited to: one that cannot be posted to, or
// one whose balance applications themselves explain.
func requireAccounts(b *snapshot.Books, rules []Rule, parts []booking.Part) error {
	for _, p := range parts {
		a, there := b.Accounts[p.LedgerAccountID]
		for _, r := range rules {
			if r.Review || r.LedgerAccountID != p.LedgerAccountID {
				continue
			}
			if !there || a.Archived() || !a.Postable || account.ExplainedByApplications(a.Role) {
				return fault.Conflictf("the rule %s routes payments to a ledger account that is archived, not postable, or kept by cash "+
					"applications: change the rule", r.Name)
			}
		}
	}
	return nil
}

// parts returns what is credited to which accounts: for each invoice the receivable, then the rest. A write-off is debited. It notes in
// each allocation what that credits, unless it is known.
func (p *proposal) parts(in accounts, rules []Rule) (out []booking.Part) {
	var routed []booking.Part
	for n := range p.Allocations {
		a := &p.Allocations[n]
		i := p.invoices[a.InvoiceID]
		if len(a.Credits) == 0 {
			a.Credits = in.credits(i, a.Amount, rules)
		}
		out = append(out, booking.Part{LedgerAccountID: a.Credits[0].LedgerAccountID, Amount: a.Credits[0].Amount, Memo: i.Number})
		for _, c := range a.Credits[1:] {
			routed = append(routed, booking.Part{LedgerAccountID: c.LedgerAccountID, Amount: c.Amount, Memo: i.Number})
		}
	}
	out = append(out, routed...)
	if p.WrittenOff.Sign() > 0 {
		out = append(out, booking.Part{LedgerAccountID: in.writeOff, Amount: p.WrittenOff.Neg(), Memo: "Written off"})
	}
	if p.Unapplied.Sign() > 0 {
		out = append(out, booking.Part{LedgerAccountID: in.unapplied, Amount: p.Unapplied, Memo: "Unapplied"})
	}
	return slices.DeleteFunc(out, func(p booking.Part) bool { return p.Amount.IsZero() })
}

// credits returns what the payment of an invoice credits: the receivable first. The payment of a line that a rule routes to another account
// is credited there; if the books have the invoice, the receivable is credited with all of the payment, and the account of the line is
// debited with what is routed.
func (in accounts) credits(i invoice.Invoice, amount money.Decimal, rules []Rule) []Credit {
	receivable := Credit{in.control, amount}
	if i.Mirrored() {
		receivable.LedgerAccountID = in.mirrored[i.ID]
	}
	var routed []Credit
	for n, share := range shares(i, amount) {
		l := i.Lines[n]
		rule := routeOf(rules, l)
		if rule == nil || share.IsZero() || rule.LedgerAccountID == cmp.Or(l.AccountID, receivable.LedgerAccountID) {
			continue
		}
		routed = add(routed, Credit{rule.LedgerAccountID, share})
		if i.Mirrored() {
			receivable.Amount = receivable.Amount.Sub(share)
		} else {
			routed = add(routed, Credit{l.AccountID, share.Neg()})
		}
	}
	return append([]Credit{receivable}, routed...)
}

// add adds a credit, or its amount to one on the same account.
func add(all []Credit, c Credit) []Credit {
	for n, o := range all {
		if o.LedgerAccountID == c.LedgerAccountID {
			all[n].Amount = o.Amount.Add(c.Amount)
			return all
		}
	}
	return append(all, c)
}

// shares divides the payment of an invoice over its lines and their taxes in proportion to their amounts, and returns what falls on each
// line without its tax.
func shares(i invoice.Invoice, amount money.Decimal) []money.Decimal {
	places, _ := money.MinorUnits(i.Currency)
	var weights []money.Decimal
	for _, l := range i.Lines {
		weights = append(weights, l.Amount, l.TaxAmount)
	}
	out := make([]money.Decimal, len(i.Lines))
	if money.Sum(weights...).Sign() <= 0 {
		return out
	}
	for n, part := range money.Apportion(amount, weights, places) {
		if n%2 == 0 {
			out[n/2] = part
		}
	}
	return out
}
