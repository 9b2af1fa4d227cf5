// Package classify decides how to classify transactions: by the rules of an organization, which are compiled into one
// Matcher, and, if no rule matches, by precedents, from which Propose derives a suggestion with a confidence.
package classify

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Direction restricts a rule to inflows or outflows.
type Direction string

// The directions.
const (
	Any        Direction = "ANY"
	Deposit    Direction = "DEPOSIT"
	Withdrawal Direction = "WITHDRAWAL"
)

// Rule says how to classify the transactions that it matches. All of its conditions that are not empty must hold.
type Rule struct {
	ID       string
	Version  int64
	Priority int64 // the highest wins among equally specific rules

	MemoContains string    // a part of a memo or payee
	Category     string    // of the platform, exactly
	Merchant     string    // of a card transaction, exactly
	Address      string    // sender or recipient, exactly
	Asset        string    // symbol
	Direction    Direction // empty is Any

	LedgerAccountID string
	Splits          []Split // several accounts instead
	TransactionType string  // empty if it follows from the account and the direction
	PayeeName       string
	TagID           string
}

// Split is the share of an amount that a rule books to one of several accounts.
type Split struct {
	LedgerAccountID string `json:"ledger_account_id"`
	Percent         string `json:"percent"`
	Memo            string `json:"memo,omitempty"`
}

// Subject holds the fields of a transaction that rules and precedents use. Texts are unmodified; this package folds them.
type Subject struct {
	Inflow   bool
	Texts    []string // description, memo, vendor, counterparty
	Category string
	Merchant string
	From, To string
	Asset    string

	// Only precedents use these.
	Vendor       string
	Counterparty string // its name
	Description  string
	Quantity     money.Decimal // of the asset
}

// What each condition adds to the specificity of a rule: more than all weaker conditions together.
const (
	weighsDirection = 1 << iota
	weighsAsset
	weighsCategory
	weighsMemo
	weighsMerchant
	weighsAddress
)

// Specificity measures how narrow a rule is: of the rules that match, the most specific decides.
func (r Rule) Specificity() int {
	weight := 0
	for _, c := range []struct {
		asked  bool
		weight int
	}{
		{!blank(r.Address), weighsAddress},
		{!blank(r.Merchant), weighsMerchant},
		{!blank(r.MemoContains), weighsMemo},
		{!blank(r.Category), weighsCategory},
		{!blank(r.Asset), weighsAsset},
		{r.direction() != Any, weighsDirection},
	} {
		if c.asked {
			weight += c.weight
		}
	}
	return weight
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

func (r Rule) direction() Direction {
	if blank(string(r.Direction)) {
		return Any
	}
	return Direction(strings.ToUpper(strings.TrimSpace(string(r.Direction))))
}

// appliesTo reports whether the rule applies to inflows, or to outflows.
func (r Rule) appliesTo(inflow bool) bool {
	switch r.direction() {
	case Any:
		return true
	case Deposit:
		return inflow
	case Withdrawal:
		return !inflow
	}
	return false
}

// ranked returns the rules in order of precedence: by specificity, then length of the memo pattern, then priority, then
// age.
func ranked(rules []Rule) []Rule {
	type rank struct {
		Rule
		specificity, memo int
	}
	all := make([]rank, len(rules))
	for i, r := range rules {
		all[i] = rank{r, r.Specificity(), utf8.RuneCountInString(folded(r.MemoContains))}
	}
	slices.SortFunc(all, func(a, b rank) int {
		return cmp.Or(cmp.Compare(b.specificity, a.specificity), cmp.Compare(b.memo, a.memo), cmp.Compare(b.Priority, a.Priority),
			cmp.Compare(a.ID, b.ID))
	})
	out := make([]Rule, len(all))
	for i, r := range all {
		out[i] = r.Rule
	}
	return out
}
