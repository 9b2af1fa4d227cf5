package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/books/account"
	"github.com/bursarhq/bursar/internal/books/tag"
	"github.com/bursarhq/bursar/internal/db"
	"github.com/bursarhq/bursar/internal/rules/classify"
	"github.com/bursarhq/bursar/internal/rules/posting"
)

// Maximum lengths of the texts of a rule in characters, and the maximum absolute priority.
const (
	matchMax     = 200 // texts to match in a transaction
	addressMax   = 256
	assetTypeMax = 64
	payeeMax     = tag.NameMax // a payee becomes a supplier
	ruleNameMax  = 200
	statementMax = 2000
	matcherMax   = 500
	priorityMax  = 1000
)

// RuleParams describe a rule; nil fields are not given.
type RuleParams struct {
	Type RuleType

	MemoContains, ProviderCategory, Merchant, Address, AssetType *string
	Direction, TransactionType, PayeeName, TagID                 *string
	Priority                                                     *int64
	Enabled                                                      *bool

	Name, Statement, Action, Matcher, MatchMode, LedgerAccountName *string

	LedgerAccountID *string
	Splits          []classify.Split // instead of LedgerAccountID
}

// matchFields are the conditions of a classification rule, which needs at least one.
var matchFields = []string{"memo_contains", "provider_category", "merchant", "address", "asset_type"}

// ValidateRule returns an unsaved rule in the form that the matcher uses, or all faults that would prevent storing it.
// It is a building block.
func ValidateRule(ctx context.Context, tx *db.Tx, p RuleParams) (classify.Rule, error) {
	if p.Type != Classification {
		return classify.Rule{}, fault.Invalidf("rule_type", "must be %s", Classification)
	}
	r, err := p.resolve(ctx, tx, &textReader{})
	return r.Matching(), err
}

// resolve returns the rule to store, or all faults.
func (p RuleParams) resolve(ctx context.Context, tx *db.Tx, t *textReader) (Rule, error) {
	r, known := p.read(t)
	if !known {
		return r, t.faults.Err()
	}
	return r, r.validateReferences(ctx, tx, &t.faults)
}

// Read returns the rule without looking at the records that it refers to, or all faults that it has anyway. It is a building block.
func (p RuleParams) Read() (Rule, error) {
	t := &textReader{}
	r, _ := p.read(t)
	return r, t.faults.Err()
}

// read returns the rule, and whether its type is known.
func (p RuleParams) read(t *textReader) (r Rule, known bool) {
	r = Rule{Type: p.Type, LedgerAccountID: t.optional("ledger_account_id", p.LedgerAccountID, 64)}
	switch p.Type {
	case Classification:
		p.classification(t, &r)
	case CashApplication:
		p.cashApplication(t, &r)
	default:
		t.faults.Addf("rule_type", "must be %s or %s", Classification, CashApplication)
		return r, false
	}
	return r, true
}

// textReader reads texts and collects their faults.
type textReader struct{ faults fault.List }

// optional returns a text without surrounding spaces. If given, it must not be blank.
func (t *textReader) optional(field string, text *string, most int) string {
	if text == nil {
		return ""
	}
	out := strings.TrimSpace(*text)
	if n := utf8.RuneCountInString(out); n < 1 || n > most {
		t.faults.Addf(field, "must have 1 to %d characters, not counting leading and trailing spaces", most)
	}
	return out
}

// required is like optional for a text that must be given.
func (t *textReader) required(field string, text *string, most int) string {
	if text == nil {
		t.faults.Addf(field, "is required")
	}
	return t.optional(field, text, most)
}

// oneOf returns one of some values, the first one by default.
func (t *textReader) oneOf(field string, text *string, values ...string) string {
	switch {
	case text == nil:
		return values[0]
	case !slices.Contains(values, *text):
		t.faults.Addf(field, "must be one of %s", strings.Join(values, ", "))
	}
	return *text
}

// forbid adds a fault for fields that only the other type of rule has.
func (t *textReader) forbid(of RuleType, fields map[string]bool) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name, there := range fields {
			if there && !yield(name) {
				return
			}
		}
	}) {
		t.faults.Addf(name, "must be omitted: only rules of type %s have it", of)
	}
}

func (p RuleParams) classification(t *textReader, r *Rule) {
	t.forbid(CashApplication, map[string]bool{
		"name": p.Name != nil, "statement": p.Statement != nil, "action": p.Action != nil, "matcher": p.Matcher != nil,
		"match_mode":          p.MatchMode != nil,
		"ledger_account_name": p.LedgerAccountName != nil,
	})
	r.MemoContains = strings.ToLower(t.optional("memo_contains", p.MemoContains, matchMax))
	r.ProviderCategory = t.optional("provider_category", p.ProviderCategory, matchMax)
	r.Merchant = t.optional("merchant", p.Merchant, matchMax)
	r.Address = strings.ToLower(t.optional("address", p.Address, addressMax))
	r.AssetType = t.optional("asset_type", p.AssetType, assetTypeMax)
	if p.MemoContains == nil && p.ProviderCategory == nil && p.Merchant == nil && p.Address == nil && p.AssetType == nil {
		for _, name := range matchFields {
			t.faults.Addf(name, "is required, or another of %s", strings.Join(matchFields, ", "))
		}
	}
	r.Direction = classify.Direction(t.oneOf("direction", p.Direction, string(classify.Any), string(classify.Deposit),
		string(classify.Withdrawal)))
	if p.TransactionType != nil {
		r.TransactionType = t.oneOf("transaction_type", p.TransactionType, ruleTransactionTypes...)
	}
	r.PayeeName = t.optional("payee_name", p.PayeeName, payeeMax)
	r.TagID = t.optional("tag_id", p.TagID, 64)
	p.splits(t, r)
	r.Enabled = p.Enabled == nil || *p.Enabled
	if p.Priority != nil {
		if r.Priority = *p.Priority; r.Priority < -priorityMax || r.Priority > priorityMax {
			t.faults.Addf("priority", "must be from %d to %d", -priorityMax, priorityMax)
		}
	}
}

// splits reads the account of a rule, or the splits that replace it.
func (p RuleParams) splits(t *textReader, r *Rule) {
	switch n := len(p.Splits); {
	case n == 0 && p.LedgerAccountID == nil:
		t.faults.Addf("ledger_account_id", "is required, or splits")
		return
	case n == 0:
		return
	case p.LedgerAccountID != nil:
		t.faults.Addf("splits", "cannot be combined with ledger_account_id, which they replace")
	}
	shares := make([]posting.SplitText, len(p.Splits))
	for i, s := range p.Splits {
		shares[i] = posting.SplitText{Percent: s.Percent}
		r.Splits = append(r.Splits, classify.Split{LedgerAccountID: s.LedgerAccountID, Percent: s.Percent,
			Memo: strings.TrimSpace(s.Memo)})
	}
	posting.ValidateShares(&t.faults, "", shares, true)
}

// ruleTransactionTypes are the types that a rule may set: all but spam, which is detected separately, and UNKNOWN.
var ruleTransactionTypes = func() (out []string) {
	for _, t := range posting.Types {
		if t != posting.TypeSpam && t != posting.Unknown {
			out = append(out, string(t))
		}
	}
	return out
}()

func (p RuleParams) cashApplication(t *textReader, r *Rule) {
	t.forbid(Classification, map[string]bool{
		"memo_contains": p.MemoContains != nil, "provider_category": p.ProviderCategory != nil, "merchant": p.Merchant != nil,
		"address":    p.Address != nil,
		"asset_type": p.AssetType != nil, "direction": p.Direction != nil, "transaction_type": p.TransactionType != nil,
		"payee_name": p.PayeeName != nil,
		"splits":     p.Splits != nil,
		"tag_id":     p.TagID != nil, "priority": p.Priority != nil, "enabled": p.Enabled != nil,
	})
	r.Name = t.required("name", p.Name, ruleNameMax)
	r.Statement = t.required("statement", p.Statement, statementMax)
	r.Matcher = t.required("matcher", p.Matcher, matcherMax)
	r.Action = t.oneOf("action", p.Action, RouteToAccount, RequireHumanReview)
	r.MatchMode = t.oneOf("match_mode", p.MatchMode, MatchContains, MatchExact)
	r.LedgerAccountName = t.optional("ledger_account_name", p.LedgerAccountName, account.NameMax)
	for _, f := range []struct {
		name         string
		there, other bool
	}{
		{"ledger_account_id", p.LedgerAccountID != nil, p.LedgerAccountName != nil},
		{"ledger_account_name", p.LedgerAccountName != nil, p.LedgerAccountID != nil},
	} {
		switch {
		case f.there:
		case r.Action == RouteToAccount:
			t.faults.Addf(f.name, "is required to route to an account")
		case f.other:
			t.faults.Addf(f.name, "is required together with the other")
		}
	}
}

// validateReferences verifies the records that a rule refers to. It returns their faults together with those of the input.
func (r Rule) validateReferences(ctx context.Context, tx *db.Tx, faults *fault.List) error {
	accounts := map[string]string{} // by field
	for i, s := range r.Splits {
		accounts[fmt.Sprintf("splits[%d].ledger_account_id", i)] = s.LedgerAccountID
	}
	if r.LedgerAccountID != "" {
		accounts["ledger_account_id"] = r.LedgerAccountID
	}
	for _, field := range slices.Sorted(maps.Keys(accounts)) {
		a, err := account.Get(ctx, tx, accounts[field])
		if err := faults.MergeMissing(err, field); err != nil {
			return err
		}
		switch {
		case err != nil: // it does not exist
		case !a.Postable:
			faults.Addf(field, "the ledger account %s is not postable: choose one below it", a)
		case a.Archived():
			faults.AddConflictf(field, "the ledger account %s is archived: unarchive it or choose another", a)
		case r.Type == Classification && a.AssetType != "" && a.AssetType != r.AssetType:
			faults.Addf(field, "the ledger account %s is for %s: give the rule that asset_type, or another account", a, a.AssetType)
		case r.Type == CashApplication && account.ExplainedByApplications(a.Role):
			faults.Addf(field, "payments cannot be routed to the ledger account %s: choose another account", a)
		case r.Type == CashApplication && r.LedgerAccountName != "" && a.Name != r.LedgerAccountName:
			faults.Addf("ledger_account_name", "must be the name of the ledger account, which is %q", a.Name)
		}
	}
	if r.TagID != "" {
		_, err := tag.Get(ctx, tx, r.TagID)
		if err := faults.MergeMissing(err, "tag_id"); err != nil {
			return err
		}
	}
	return faults.Err()
}
