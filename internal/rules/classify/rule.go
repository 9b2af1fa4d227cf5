// Package classify decides what transactions are: by the rules that an organization wrote, which compile into one matcher, and where none
// matches by what was booked before.
package classify

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bursarhq/bursar/internal/base/money"
)

// Direction is which way a rule looks.
type Direction string

// The directions.
const (
	Any        Direction = "ANY"
	Deposit    Direction = "DEPOSIT"
	Withdrawal Direction = "WITHDRAWAL"
)

// Rule says what becomes of the transactions that it matches. All of its conditions that are not empty must hold.
type Rule struct {
	ID       string
	Version  int64
	Priority int64 // the highest goes first among those that are equally specific

	MemoContains string    // a part of what a memo or a payee says
	Category     string    // of the platform, all of it
	Merchant     string    // of a card, all of its name
	Address      string    // from or to, all of it
	Asset        string    // the symbol of what moved
	Direction    Direction // empty is Any

	LedgerAccountID string
	TransactionType string // empty where the account and the direction say it
	PayeeName       string
	TagID           string
}

// Subject is a transaction as far as rules and precedents look at it. Texts are as the transaction has them: they are folded here.
type Subject struct {
	Inflow   bool
	Texts    []string // description, memo, vendor, who is at the other end
	Category string
	Merchant string
	From, To string
	Asset    string

	// Only precedents look at these.
	Vendor       string
	Counterparty string // its name
	Description  string
	Quantity     money.Decimal // of the asset
}

// What each condition adds to how specific a rule is: more than all that are weaker together.
const (
	weighsDirection = 1 << iota
	weighsAsset
	weighsCategory
	weighsMemo
	weighsMerchant
	weighsAddress
)

// Specificity is how narrow a rule is: of those that match, the narrowest decides.
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

// looks tells whether a rule's direction is that of a transaction.
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

// ranked is the rules in the order in which they decide: the narrowest, the one with the longest pattern, the one
// that was put first, the oldest.
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
