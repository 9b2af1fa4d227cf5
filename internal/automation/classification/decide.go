package classification

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/snapshot"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/calendar"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/posting"
	"github.com/bursarhq/bursar/internal/treasury/batchrun"
	"github.com/bursarhq/bursar/internal/treasury/source"
	"github.com/bursarhq/bursar/internal/treasury/transaction"
)

// subjectOf returns the fields of a transaction that rules and precedents use.
func subjectOf(t transaction.Transaction) classify.Subject {
	s := classify.Subject{
		Inflow: transaction.IsInflow(t.Direction), Texts: []string{t.Description, t.Memo,
			t.Vendor}, Category: t.Category, Asset: t.Asset(), Vendor: t.Vendor, Description: t.Description,
	}
	if t.Bank != nil {
		s.Counterparty = t.Bank.CounterpartyName
		s.Texts = append(s.Texts, s.Counterparty)
	}
	if t.Card != nil {
		s.Merchant = t.Card.MerchantName
		s.Texts = append(s.Texts, s.Merchant)
	}
	if t.Crypto != nil {
		s.From, s.To = t.Crypto.From, t.Crypto.To
	}
	if t.Quantity != nil {
		s.Quantity = *t.Quantity
	}
	return s
}

// decider classifies transactions by the rules of a revision and a snapshot of the books.
type decider struct {
	matcher *classify.Matcher
	books   *snapshot.Books
	foreign map[string]bool // accounts that the actor cannot book to
	scratch classify.Scratch
}

// foreignAccounts returns the accounts of the chart that the actor cannot book to, because they belong to sources of legal entities outside
// its key. A run offers none of them.
func foreignAccounts(ctx context.Context, tx *db.Tx, b *snapshot.Books) (map[string]bool, error) {
	return source.ForeignAccounts(ctx, tx, slices.Collect(maps.Keys(b.Accounts)))
}

// rule applies the rules to a transaction. The outcome says if none matched or if the transaction is not eligible.
func (d *decider) rule(t transaction.Transaction) Result {
	r := Result{Result: batchrun.ResultOf(t, Unmatched), hadSuggestion: t.Suggested != nil}
	if r.Message = d.skipReason(t); r.Message != "" {
		r.Outcome = Skipped
		return r
	}
	found := d.matcher.Match(subjectOf(t), &d.scratch)
	if found.Rule == nil {
		return d.linked(r, t)
	}
	if t.GroupID != "" {
		r.setOthers(append([]*classify.Rule{found.Rule}, found.Others...))
		return d.linked(r, t)
	}
	r.setOthers(found.Others)
	rule := found.Rule
	r.Outcome, r.RuleID, r.RuleVersion, r.Specificity, r.LedgerAccountID, r.PayeeName, r.TagID =
		Classified, rule.ID, rule.Version, int64(rule.Specificity()), rule.LedgerAccountID, rule.PayeeName, rule.TagID
	r.Confidence, r.Reasons = 100, []string{fmt.Sprintf("The rule %s, version %d, matches: %s.", rule.ID, rule.Version, rule.Text())}
	r.Splits, r.Type = rule.Splits, d.typeOf(rule, t)
	for _, id := range accountsOf(rule) {
		switch a, ok := d.books.Accounts[id]; {
		case !ok:
			r.Outcome, r.Message = Refused, "the ledger account of the rule no longer exists"
		case d.foreign[id]:
			r.Outcome, r.Message = Refused, "the ledger account of the rule belongs to a legal entity that the API key has no access to"
		case a.ArchivedAt != nil:
			r.Outcome, r.Message = Refused, fmt.Sprintf("the ledger account %s of the rule is archived", a)
		case !a.Postable:
			r.Outcome, r.Message = Refused, fmt.Sprintf("the ledger account %s of the rule is not postable", a)
		}
	}
	if slices.ContainsFunc(accountsOf(rule), func(id string) bool { return d.foreign[id] }) {
		r.LedgerAccountID, r.Splits = "", nil
	}
	return r
}

// accountsOf returns the account of a rule, or those of its splits.
func accountsOf(r *classify.Rule) (out []string) {
	for _, s := range r.Splits {
		out = append(out, s.LedgerAccountID)
	}
	if len(out) == 0 {
		out = []string{r.LedgerAccountID}
	}
	return out
}

// typeOf returns the type that a rule gives to a transaction. Of several accounts the first one counts.
func (d *decider) typeOf(r *classify.Rule, t transaction.Transaction) string {
	return typeFor(r.TransactionType, t, d.books.Accounts[accountsOf(r)[0]].Type)
}

// setOthers stores the other rules that matched.
func (r *Result) setOthers(all []*classify.Rule) {
	r.OthersCount = int64(len(all))
	for _, o := range all[:min(len(all), othersKept)] {
		r.Others = append(r.Others, Match{o.ID, o.Version})
	}
}

// linkConfidence is the confidence of a suggestion that follows from a link.
const linkConfidence = 95

// linked suggests the type of a linked transaction: it is one side of an event, which rules do not see.
func (d *decider) linked(r Result, t transaction.Transaction) Result {
	if t.GroupID == "" || t.Type == transaction.Unknown {
		return r
	}
	r.Outcome, r.Type, r.Confidence = Suggested, string(t.Type), linkConfidence
	r.Reasons = []string{fmt.Sprintf("It is linked to another transaction as one %s.", t.Type)}
	return r
}

// skipReason returns why a run skips a transaction, or an empty text.
func (d *decider) skipReason(t transaction.Transaction) string {
	switch {
	case t.Status == transaction.Spam:
		return "it is spam"
	case t.Status == transaction.Posted:
		return "it is posted"
	case t.JournalEntryID != "":
		return "it has the draft entry " + t.JournalEntryID
	}
	if month := calendar.MonthOf(t.At, d.books.Zone).Key(); month <= d.books.ClosedThrough(t.Source.LegalEntityID) {
		return "the month " + month + " is closed"
	}
	return ""
}

// plainTypes say no more than the direction.
var plainTypes = []transaction.Type{transaction.Unknown, transaction.Deposit, transaction.Withdrawal, transaction.TypeSpam}

// typeFor returns the type of a transaction that is booked to an account: the type of the rule, else the one that its
// source reported, else the one that follows from account and direction. A type that does not exist in the direction is
// replaced, because a rule for payments to somebody also matches their refunds.
func typeFor(ruleType string, t transaction.Transaction, to account.Type) string {
	in := transaction.IsInflow(t.Direction)
	if ruleType != "" && posting.SupportsDirection(posting.Type(ruleType), in) {
		return ruleType
	}
	if ruleType == "" && !slices.Contains(plainTypes, t.Type) && posting.SupportsDirection(posting.Type(t.Type), in) {
		return string(t.Type)
	}
	switch {
	case to == account.Revenue && in:
		return string(posting.Income)
	case to == account.Expense && !in:
		return string(posting.Expense)
	case to == account.Revenue, to == account.Expense:
		return string(posting.Refund)
	case in:
		return string(posting.Deposit)
	}
	return string(posting.Withdrawal)
}
