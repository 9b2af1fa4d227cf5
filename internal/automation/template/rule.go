package template

import (
	"github.com/bursarhq/bursar/internal/automation/memory"
	"github.com/bursarhq/bursar/internal/base/fault"
	"github.com/bursarhq/bursar/internal/rules/classify"
)

// Rule is a rule that names ledger accounts by code and its tag by kind and name. Nil fields are not given.
type Rule struct {
	Type memory.RuleType `json:"rule_type"`

	MemoContains     *string `json:"memo_contains,omitempty"`
	ProviderCategory *string `json:"provider_category,omitempty"`
	Merchant         *string `json:"merchant,omitempty"`
	Address          *string `json:"address,omitempty"`
	AssetType        *string `json:"asset_type,omitempty"`
	Direction        *string `json:"direction,omitempty"`
	TransactionType  *string `json:"transaction_type,omitempty"`
	PayeeName        *string `json:"payee_name,omitempty"`
	Tag              *Tag    `json:"tag,omitempty"`
	Priority         *int64  `json:"priority,omitempty"`
	Enabled          *bool   `json:"enabled,omitempty"`

	Name      *string `json:"name,omitempty"`
	Statement *string `json:"statement,omitempty"`
	Action    *string `json:"action,omitempty"`
	Matcher   *string `json:"matcher,omitempty"`
	MatchMode *string `json:"match_mode,omitempty"`

	LedgerAccountCode *string `json:"ledger_account_code,omitempty"`
	Splits            []Split `json:"splits,omitempty"` // instead of LedgerAccountCode
}

// Split is the share of an amount that a rule books to one of several ledger accounts.
type Split struct {
	LedgerAccountCode string `json:"ledger_account_code"`
	Percent           string `json:"percent"`
	Memo              string `json:"memo,omitempty"`
}

// chart finds the ledger accounts and the tags that rules name.
type chart struct {
	account func(code string) (id, name string)
	tag     func(Tag) (id string)
}

// own is the chart in which codes and names are the ids, with which rules are checked and compared without the books of a client.
var own = chart{func(code string) (id, name string) { return code, code }, Tag.String}

// params describes the rule in the words of a chart.
func (r Rule) params(c chart) memory.RuleParams {
	p := memory.RuleParams{
		Type:             r.Type,
		MemoContains:     r.MemoContains,
		ProviderCategory: r.ProviderCategory,
		Merchant:         r.Merchant,
		Address:          r.Address,
		AssetType:        r.AssetType,
		Direction:        r.Direction,
		TransactionType:  r.TransactionType,
		PayeeName:        r.PayeeName,
		Priority:         r.Priority,
		Enabled:          r.Enabled,
		Name:             r.Name,
		Statement:        r.Statement,
		Action:           r.Action,
		Matcher:          r.Matcher,
		MatchMode:        r.MatchMode,
	}
	if r.Tag != nil {
		p.TagID = new(c.tag(*r.Tag))
	}
	if r.LedgerAccountCode != nil {
		id, name := c.account(*r.LedgerAccountCode)
		p.LedgerAccountID = &id
		if r.Type == memory.CashApplication {
			p.LedgerAccountName = &name
		}
	}
	for _, s := range r.Splits {
		id, _ := c.account(s.LedgerAccountCode)
		p.Splits = append(p.Splits, classify.Split{LedgerAccountID: id, Percent: s.Percent, Memo: s.Memo})
	}
	return p
}

// codes returns the codes of the ledger accounts that the rule books to.
func (r Rule) codes() (out []string) {
	if r.LedgerAccountCode != nil {
		out = append(out, *r.LedgerAccountCode)
	}
	for _, s := range r.Splits {
		out = append(out, s.LedgerAccountCode)
	}
	return out
}

// renamed returns an error about a rule with the names that its fields have in a template.
func renamed(err error) error {
	for _, n := range [][2]string{{"ledger_account_id", "ledger_account_code"}, {"ledger_account_name", "ledger_account_code"}, {"tag_id", "tag"}} {
		err = fault.RenameField(err, n[0], n[1])
	}
	return err
}

// matching is what a rule matches. Two rules with the same contradict each other unless they do the same.
type matching struct {
	kind                                                    memory.RuleType
	memo, category, merchant, address, asset, matcher, mode string
	direction                                               classify.Direction
}

func matchingOf(r memory.Rule) matching {
	return matching{kind: r.Type, memo: r.MemoContains, category: r.ProviderCategory, merchant: r.Merchant, address: r.Address,
		asset: r.AssetType, matcher: r.Matcher, mode: r.MatchMode, direction: r.Direction}
}

// sameOutcome reports whether two rules do the same with what they match. Priority, names and whether a rule is enabled are the client's to
// decide.
func sameOutcome(a, b memory.Rule) bool {
	if a.LedgerAccountID != b.LedgerAccountID || a.TransactionType != b.TransactionType || a.PayeeName != b.PayeeName || a.TagID != b.TagID ||
		a.Action != b.Action || len(a.Splits) != len(b.Splits) {
		return false
	}
	for i, s := range a.Splits {
		if s != b.Splits[i] {
			return false
		}
	}
	return true
}
